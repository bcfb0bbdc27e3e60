package core_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/golden"
)

// reads is everything that can be asked of one state.
type reads interface {
	Route(topic string, o golden.RouteOptions) (string, bool)
	ClusterInfo() string
	TopicList() string
	TopicsByCluster(cluster string) string
	SystemTopics() string
	UnitTopics(code int) string
	MemberGroup(cluster, broker codec.NullString) string
	DataVersion(cluster, addr string) (codec.DataVersion, bool)
	KV(namespace, key string) (string, bool)
	KVList(namespace string) (string, bool)
	OrderTable() (string, bool)
}

// tables is what the catalogue and the properties drive: the reference model and the real table.
type tables interface {
	reads
	Step(now int64, batch []core.Command) ([]core.Result, []core.Effect)
	Touch(conn core.ConnID, cluster, addr string, now int64) bool
	Suspects() []string
}

var (
	_ tables = (*golden.Model)(nil)
	_ tables = (*realTables)(nil)
)

// realTables drives a core.Table as the server does: cells touched on a
// connection are handed in with its end.
type realTables struct {
	snapshotReads
	table   *core.Table
	touched map[core.ConnID][]*core.LiveCell
}

func newRealTables(s core.Settings) *realTables {
	r := &realTables{table: core.NewTable(s, nil), touched: map[core.ConnID][]*core.LiveCell{}}
	r.Snapshot = r.table.Load()
	return r
}

func (r *realTables) Step(now int64, batch []core.Command) ([]core.Result, []core.Effect) {
	batch = slices.Clone(batch)
	for i, c := range batch {
		if end, ok := c.(*core.EndConnection); ok {
			batch[i] = &core.EndConnection{Conn: end.Conn, Touched: r.touched[end.Conn]}
			delete(r.touched, end.Conn)
		}
	}
	var out core.Outcome
	r.table.Step(now, batch, &out)
	r.Snapshot = r.table.Load()
	return out.Results, out.Effects
}

func (r *realTables) Touch(conn core.ConnID, cluster, addr string, now int64) bool {
	l, known := r.Live([]byte(cluster), []byte(addr))
	if !known {
		return false
	}
	alive, moved := l.Cell.Touch(conn, now)
	if moved {
		r.touched[conn] = append(r.touched[conn], l.Cell)
	}
	return alive
}

// snapshotReads puts a snapshot's answers in the model's form.
type snapshotReads struct{ *core.Snapshot }

func (s snapshotReads) Route(topic string, o golden.RouteOptions) (string, bool) {
	options := core.RouteOptions{Dialect: o.Dialect}
	if o.ZoneMode && strings.TrimSpace(o.ZoneName) != "" { // the request's part of the rule
		options.Zone = []byte(o.ZoneName)
	}
	body, ok := s.AppendRoute([]byte("before"), []byte(topic), options)
	if !ok {
		return "", false
	}
	return string(body[len("before"):]), true
}

func (s snapshotReads) ClusterInfo() string { return string(s.Snapshot.ClusterInfo().Body()) }
func (s snapshotReads) TopicList() string   { return string(s.Snapshot.TopicList().Body()) }
func (s snapshotReads) TopicsByCluster(cluster string) string {
	return string(s.Snapshot.TopicsByCluster(cluster).Body())
}
func (s snapshotReads) SystemTopics() string { return string(s.Snapshot.SystemTopics().Body()) }

func (s snapshotReads) UnitTopics(code int) string {
	lists := map[int]core.UnitList{311: core.UnitTopics, 312: core.UnitSubTopics, 313: core.UnitSubOnlyTopics}
	return string(s.Snapshot.UnitTopics(lists[code]).Body())
}

func (s snapshotReads) MemberGroup(cluster, broker codec.NullString) string {
	return string(s.AppendMemberGroup(nil, cluster, broker))
}

func (s snapshotReads) DataVersion(cluster, addr string) (codec.DataVersion, bool) {
	l, known := s.Live([]byte(cluster), []byte(addr))
	if !known {
		return codec.DataVersion{}, false
	}
	return l.DataVersion, true
}

func (s snapshotReads) KVList(namespace string) (string, bool) {
	table, ok := s.KVTable(namespace)
	return string(table), ok
}

func (s snapshotReads) OrderTable() (string, bool) {
	table := s.Snapshot.OrderTable()
	return string(table), table != nil
}

// effectTexts writes the effects that both sides must produce, sorted.
func effectTexts(effects []core.Effect) []string {
	var texts []string
	for _, e := range effects {
		switch e := e.(type) {
		case *core.CloseConnection:
			texts = append(texts, fmt.Sprintf("close %d", e.Conn))
		case *core.NotifyMinBrokerID:
			text := fmt.Sprintf("tell %v min %d=%s", e.Recipients, e.MinBrokerID, e.MinBrokerAddr)
			if e.OfflineBrokerAddr.Valid {
				text += " offline " + e.OfflineBrokerAddr.S
			}
			if e.HABrokerAddr.Valid {
				text += " ha " + e.HABrokerAddr.S
			}
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	return texts
}
