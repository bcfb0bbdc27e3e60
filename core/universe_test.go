package core_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/golden"
	"pgregory.net/rapid"
)

// The universe of the properties is small, so that commands meet each other.
var (
	someClusters = []string{"c1", "c2"}
	someBrokers  = []string{"a", "b", "c"}
	someAddrs    = []string{"10.0.0.1:1", "10.0.0.2:1", "10.0.0.3:1", "[fe80::1%eth0]:1"}
	someTopics   = []string{"T", `q"uo\te`, "主题\u0001\n/<é>\u2028\U0001F600", "rmq_sys_SYNC_BROKER_MEMBER_a", "pad"}
	someZones    = []string{"z1", "Z1", "zı", "ZI"} // Java takes a dotless i for an i
	namespaces   = []string{"ORDER_TOPIC_CONFIG", "ns"}
	timeSteps    = []time.Duration{0, 0, 100 * time.Millisecond, time.Second, 3 * time.Second, time.Minute}
)

func pick[T any](t *rapid.T, label string, from []T) T { return rapid.SampledFrom(from).Draw(t, label) }

// chance is true once in n times; shrinking makes it false.
func chance(t *rapid.T, label string, n int) bool {
	return rapid.IntRange(0, n-1).Draw(t, label) == n-1
}

func maybeText(t *rapid.T, label string, from []string) codec.NullString {
	if chance(t, label+"Null", 2) {
		return text(pick(t, label, from))
	}
	return codec.NullString{}
}

// drawCommand draws any command; conns are the connections that are open, and
// the one that ends is replaced by a fresh one.
func (w *world) drawCommand(t *rapid.T) core.Command {
	switch rapid.IntRange(0, 20).Draw(t, "command") {
	default:
		return w.drawRegistration(t)
	case 1, 2:
		if again := w.drawAgain(t); again != nil {
			return again
		}
		return w.drawRegistration(t)
	case 3, 4:
		return &core.UnregisterBroker{
			ClusterName: pick(t, "cluster", someClusters), BrokerName: pick(t, "broker", someBrokers),
			BrokerAddr: pick(t, "addr", someAddrs), BrokerID: pick(t, "id", []int64{0, 1}),
		}
	case 5, 6:
		slot := rapid.IntRange(0, len(w.conns)-1).Draw(t, "conn")
		ended := w.conns[slot]
		w.conns[slot] = w.nextConn
		w.nextConn++
		return &core.EndConnection{Conn: ended}
	case 7:
		return &core.QueryDataVersion{
			Conn: pick(t, "conn", w.conns), ClusterName: pick(t, "cluster", someClusters), BrokerAddr: pick(t, "addr", someAddrs),
			DataVersion: drawVersion(t), HasDataVersion: !chance(t, "noVersion", 4),
		}
	case 8:
		return &core.DeleteTopic{Topic: pick(t, "topic", someTopics), ClusterName: pick(t, "cluster", append([]string{""}, someClusters...))}
	case 9:
		return &core.RegisterTopic{Topic: pick(t, "topic", someTopics), Queues: rapid.SliceOfN(rapid.Custom(drawQueue), 0, 2).Draw(t, "queues")}
	case 10:
		return &core.WipeWritePerm{BrokerName: pick(t, "broker", someBrokers)}
	case 11:
		return &core.AddWritePerm{BrokerName: pick(t, "broker", someBrokers)}
	case 12:
		return &core.PutKV{
			Namespace: pick(t, "namespace", namespaces), Key: pick(t, "key", someTopics),
			Value: maybeText(t, "value", []string{"a:4;b:4", "\"\t"}),
		}
	case 13:
		return &core.DeleteKV{Namespace: pick(t, "namespace", namespaces), Key: pick(t, "key", someTopics)}
	case 14:
		return &core.SetSettings{Settings: drawSettings(t)}
	case 15:
		return &core.DeclareDead{
			ClusterName: pick(t, "cluster", someClusters), BrokerName: pick(t, "broker", someBrokers), BrokerAddr: pick(t, "addr", someAddrs),
			// Never the very time of a sign of life, which the table moves on by a nanosecond for each at the same time.
			Since:   w.now - int64(pick(t, "before", timeSteps)) + int64(time.Microsecond),
			Version: drawVersion(t), By: pick(t, "by", []string{"", "ns2"}),
		}
	case 16, 17, 18:
		return &core.Tick{LatenessNanos: int64(pick(t, "lateness", timeSteps))}
	}
}

// drawAgain repeats a registration that was accepted before, on some connection
// and perhaps with a new version; nil if there was none.
func (w *world) drawAgain(t *rapid.T) core.Command {
	if len(w.accepted) == 0 {
		return nil
	}
	c := *pick(t, "again", w.accepted)
	c.Conn = pick(t, "conn", w.conns)
	if chance(t, "newVersion", 2) {
		body := *c.Body
		body.DataVersion = drawVersion(t)
		c.Body = &body
	}
	return &c
}

func (w *world) drawRegistration(t *rapid.T) *core.RegisterBroker {
	c := &core.RegisterBroker{
		Conn:         pick(t, "conn", w.conns),
		ClusterName:  pick(t, "cluster", someClusters),
		BrokerName:   pick(t, "broker", someBrokers),
		BrokerAddr:   pick(t, "addr", someAddrs),
		BrokerID:     pick(t, "id", []int64{0, 0, 1, 1, 2, -1}),
		ActingMaster: pick(t, "acting", []core.ActingMaster{core.ActingTrue, core.ActingTrue, core.ActingFalse, core.ActingAbsent}),
		ZoneName:     maybeText(t, "zone", someZones),
		HAServerAddr: maybeText(t, "ha", []string{"ha:1", "ha:2"}),
		Body:         drawBody(t),
	}
	if chance(t, "hasTimeout", 2) {
		c.HasTimeout = true
		c.TimeoutMillis = pick(t, "timeout", []int64{3000, 1000, 0, -1, 1 << 62})
	}
	return c
}

func drawBody(t *rapid.T) *codec.RegisterBody {
	b := &codec.RegisterBody{DataVersion: drawVersion(t), NullTopicTable: chance(t, "nullTable", 10)}
	if !b.NullTopicTable {
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(someTopics), 0, 4, rapid.ID[string]).Draw(t, "topics") {
			config := codec.TopicConfig{
				Key: key, Name: key, HasName: !chance(t, "noName", 10),
				ReadQueueNums: pick(t, "read", []int32{8, 4}), WriteQueueNums: 8,
				Perm: pick(t, "perm", []int32{6, 6, 4, 7}), TopicSysFlag: rapid.Int32Range(0, 3).Draw(t, "flags"),
			}
			if chance(t, "otherName", 10) {
				config.Name = pick(t, "name", someTopics)
			}
			b.Topics = append(b.Topics, config)
		}
	}
	if chance(t, "mapped", 3) {
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(someTopics), 1, 2, rapid.ID[string]).Draw(t, "mappings") {
			info := codec.TopicQueueMapping{
				Key: key, Topic: maybeText(t, "mappedTopic", someTopics), BrokerName: maybeText(t, "host", append([]string{"x"}, someBrokers...)),
				TotalQueues: 4, Epoch: rapid.Int64Range(-1, 1).Draw(t, "epoch"), NullIDMap: chance(t, "nullIDs", 5),
			}
			if !info.NullIDMap && chance(t, "hasIDs", 2) {
				info.CurrIDMap = []codec.IDPair{{Logical: -1, Physical: 2}, {Logical: 0, Physical: 3}, {Logical: 10, Physical: 1}}
			}
			b.Mappings = append(b.Mappings, info)
		}
	}
	if chance(t, "hasFilters", 2) {
		b.HasFilterServers = true
		b.FilterServers = rapid.SliceOfN(rapid.SampledFrom([]string{"fs:1", `f"s:2`}), 0, 2).Draw(t, "filters")
	}
	return b
}

func drawQueue(t *rapid.T) codec.QueueData {
	return codec.QueueData{
		BrokerName:    pick(t, "broker", append([]string{"nobody"}, someBrokers...)),
		ReadQueueNums: 1, WriteQueueNums: 2,
		Perm: pick(t, "perm", []int32{6, 4, 0}), TopicSysFlag: rapid.Int32Range(0, 3).Draw(t, "flags"),
	}
}

func drawVersion(t *rapid.T) codec.DataVersion {
	v := codec.DataVersion{
		StateVersion: pick(t, "state", []int64{0, 0, 1}), Timestamp: 1, Counter: rapid.Int64Range(1, 2).Draw(t, "counter"),
	}
	if chance(t, "nullCounter", 20) {
		v.Counter, v.NullCounter = 0, true
	}
	return v
}

func drawSettings(t *rapid.T) core.Settings {
	s := core.DefaultSettings()
	s.OrderMessageEnable = rapid.Bool().Draw(t, "order")
	s.ReturnOrderTopicConfigToBroker = rapid.Bool().Draw(t, "returnOrder")
	s.SupportActingMaster = rapid.Bool().Draw(t, "supportActing")
	s.NotifyMinBrokerIDChanged = rapid.Bool().Draw(t, "notify")
	s.DeleteTopicWithBrokerRegistration = rapid.Bool().Draw(t, "deleteMissing")
	s.ExpiryGuardPercent = pick(t, "guardPercent", []int64{0, 1, 40, 100})
	s.ExpiryGuardMaxMillis = pick(t, "guardMillis", []int64{1000, 5000, 70_000})
	return s
}

// allReads asks everything there is to ask in this universe, one labelled text an answer.
func allReads(r reads) []string {
	var texts []string
	add := func(label string, values ...any) { texts = append(texts, label+" "+fmt.Sprint(values...)) }
	for _, topic := range someTopics {
		for _, dialect := range []codec.Dialect{codec.Standard, codec.Legacy} {
			for _, zone := range append([]string{"", " "}, someZones...) {
				body, ok := r.Route(topic, golden.RouteOptions{Dialect: dialect, ZoneMode: true, ZoneName: zone})
				add(fmt.Sprintf("route %q dialect %d zone %q", topic, dialect, zone), ok, body)
			}
		}
	}
	add("106", r.ClusterInfo())
	add("206", r.TopicList())
	add("304", r.SystemTopics())
	for code := 311; code <= 313; code++ {
		add(fmt.Sprint(code), r.UnitTopics(code))
	}
	for _, cluster := range append([]string{"nowhere"}, someClusters...) {
		add("224 "+cluster, r.TopicsByCluster(cluster))
		for _, addr := range someAddrs {
			version, known := r.DataVersion(cluster, addr)
			add("version "+cluster+" "+addr, known, version)
		}
	}
	for _, broker := range append([]string{"nobody"}, someBrokers...) {
		add("901 "+broker, r.MemberGroup(text("c1"), text(broker)))
	}
	add("901 of null", r.MemberGroup(codec.NullString{}, codec.NullString{}))
	for _, namespace := range append([]string{"nowhere"}, namespaces...) {
		body, ok := r.KVList(namespace)
		add("219 "+namespace, ok, body)
		for _, key := range someTopics {
			value, ok := r.KV(namespace, key)
			add("101 "+namespace+" "+key, ok, value)
		}
	}
	body, ok := r.OrderTable()
	add("order table", ok, body)
	return texts
}

// describe writes a command for the log of a failure.
func describe(c core.Command) string {
	switch c := c.(type) {
	case *core.RegisterBroker:
		shown := *c
		shown.Body = nil
		return fmt.Sprintf("RegisterBroker %+v body %+v", shown, *c.Body)
	case *core.EndConnection:
		return fmt.Sprintf("EndConnection %d", c.Conn)
	default:
		return strings.TrimPrefix(fmt.Sprintf("%T %+v", c, c), "*core.")
	}
}
