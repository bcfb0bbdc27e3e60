package golden

import (
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// A clone is equal until either goes on, whichever table a step changes.
func TestClone(t *testing.T) {
	text := func(s string) codec.NullString { return codec.NullString{S: s, Valid: true} }
	register := func(counter int64, perm int32) *core.RegisterBroker {
		config := func(name string) codec.TopicConfig {
			return codec.TopicConfig{Key: name, Name: name, HasName: true, Perm: perm}
		}
		return &core.RegisterBroker{Conn: 1, ClusterName: "c", BrokerName: "a", BrokerAddr: "a:1", Body: &codec.RegisterBody{
			DataVersion: codec.DataVersion{Counter: counter}, Topics: []codec.TopicConfig{config("T"), config("U")},
			FilterServers: []string{"f:1"}, HasFilterServers: true,
			Mappings: []codec.TopicQueueMapping{{Key: "T", BrokerName: text("a")}},
		}}
	}
	for _, c := range []core.Command{
		register(2, 4), &core.UnregisterBroker{ClusterName: "c", BrokerName: "a", BrokerAddr: "a:1"}, &core.EndConnection{Conn: 1},
		&core.WipeWritePerm{BrokerName: "a"}, &core.DeleteTopic{Topic: "T"}, &core.PutKV{Namespace: "n", Key: "k", Value: text("w")},
		&core.QueryDataVersion{Conn: 2, ClusterName: "c", BrokerAddr: "a:1"}, &core.SetSettings{},
	} {
		m := New(core.DefaultSettings())
		m.Step(1, []core.Command{register(1, 6), &core.PutKV{Namespace: "n", Key: "k", Value: text("v")}})
		clone, second := m.Clone(), m.Clone()
		if !clone.Equal(m) {
			t.Fatal("a clone differs from the first")
		}
		clone.Step(2, []core.Command{c})
		if clone.Equal(m) {
			t.Errorf("%T: no difference", c)
		}
		if !second.Equal(m) {
			t.Errorf("%T of a clone changed the model", c)
		}
	}
}
