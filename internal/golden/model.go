package golden

import (
	"fmt"
	"slices"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// Model holds the six tables of Apache's RouteInfoManager, the KV table and the settings.
type Model struct {
	settings core.Settings
	topics   map[string]map[string]codec.QueueData // topic → broker name → its share
	groups   map[string]*group                     // by broker name; never without an address
	clusters map[string]map[string]bool            // cluster → broker names; never empty
	live     map[brokerKey]*liveEntry
	filters  map[brokerKey][]string        // filter servers; go with the live entry
	mappings map[string]map[string]mapping // topic → hosting broker name
	kv       map[string]map[string]codec.NullString

	now     int64 // of the running step
	effects []core.Effect
}

// brokerKey identifies one broker process. The same address in two clusters is two brokers.
type brokerKey struct{ cluster, addr string }

// group is all brokers of one name. Its cluster is that of the first registrant.
type group struct {
	cluster string
	addrs   map[int64]string
	zone    codec.NullString
	acting  bool
}

// liveEntry is one registered broker process; times in nanoseconds.
type liveEntry struct {
	name          string
	last, timeout int64
	version       codec.DataVersion
	conn          core.ConnID
	ha            codec.NullString
	suspect       bool // held by the expiry guard
	suspectUntil  int64
}

type mapping struct {
	registrant string // broker name whose registration brought it
	info       codec.TopicQueueMapping
}

// New returns an empty model.
func New(s core.Settings) *Model {
	return &Model{
		settings: s,
		topics:   map[string]map[string]codec.QueueData{},
		groups:   map[string]*group{},
		clusters: map[string]map[string]bool{},
		live:     map[brokerKey]*liveEntry{},
		filters:  map[brokerKey][]string{},
		mappings: map[string]map[string]mapping{},
		kv:       map[string]map[string]codec.NullString{},
	}
}

// Step applies the batch one by one at now (nanoseconds, never falling).
// Results are in the batch's order. Effects are CloseConnection and
// NotifyMinBrokerID; events are left out.
func (m *Model) Step(now int64, batch []core.Command) (results []core.Result, effects []core.Effect) {
	m.now, m.effects = now, nil
	for _, c := range batch {
		results = append(results, m.apply(c))
	}
	return results, m.effects
}

func (m *Model) apply(c core.Command) core.Result {
	switch c := c.(type) {
	case *core.RegisterBroker:
		return m.register(c)
	case *core.UnregisterBroker:
		m.unregister(c)
	case *core.EndConnection:
		m.endConnection(c.Conn)
	case *core.DeclareDead:
		return m.declareDead(c)
	case *core.QueryDataVersion:
		return m.queryDataVersion(c)
	case *core.DeleteTopic:
		m.deleteTopic(c.Topic, c.ClusterName)
	case *core.RegisterTopic:
		m.registerTopic(c.Topic, c.Queues)
	case *core.WipeWritePerm:
		return core.Result{Count: m.changePerms(c.BrokerName, func(perm int32) int32 { return perm &^ codec.PermWrite })}
	case *core.AddWritePerm:
		return core.Result{Count: m.changePerms(c.BrokerName, func(int32) int32 { return codec.PermRead | codec.PermWrite })}
	case *core.PutKV:
		m.putKV(c.Namespace, c.Key, c.Value)
	case *core.DeleteKV:
		delete(m.kv[c.Namespace], c.Key)
	case *core.SetSettings:
		m.settings = c.Settings
	case *core.Tick:
		m.tick(c.LatenessNanos)
	default:
		panic(fmt.Sprintf("golden: unknown command %T", c))
	}
	return core.Result{}
}

// minID is the smallest id from 0 up: negative ids never lead a group.
func (g *group) minID() (id int64, ok bool) {
	for _, id := range g.ids() {
		if id >= 0 {
			return id, true
		}
	}
	return 0, false
}

// ids are all ids in ascending order.
func (g *group) ids() []int64 {
	var ids []int64
	for id := range g.addrs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// idOf finds the one id that holds addr.
func (g *group) idOf(addr string) (id int64, ok bool) {
	for _, id := range g.ids() {
		if g.addrs[id] == addr {
			return id, true
		}
	}
	return 0, false
}

// dropOtherIDs takes addr away from every id but keep.
func (g *group) dropOtherIDs(addr string, keep int64) {
	for _, id := range g.ids() {
		if id != keep && g.addrs[id] == addr {
			delete(g.addrs, id)
		}
	}
}
