package core

import "github.com/waymark-mq/waymark/codec"

// State is what a snapshot holds of brokers and topics, for a Restore in another process. What Export returns shares the
// snapshot's memory: read only. One that was read from elsewhere may say anything; Restore takes of it what fits together.
type State struct {
	Groups   []StateGroup
	Settings []StateSetting
	Lists    [][]StateQueue // of queues; topics of the same queues share one
	Topics   []StateTopic
	Mappings []StateMapping
	Live     []StateLive
}

// StateGroup is a broker name. Queues name it by its Index.
type StateGroup struct {
	Index        uint32
	Name         string
	ClusterName  string
	Homes        []string // clusters that list the name
	ZoneName     codec.NullString
	ActingMaster bool
	Addrs        []Address // by id
}

// StateSetting is what brokers say of their queues of a topic. Queues name it by its Index.
type StateSetting struct {
	Index                                             uint32
	ReadQueueNums, WriteQueueNums, Perm, TopicSysFlag int32
}

// StateQueue is one broker name's queues of a topic.
type StateQueue = queue

// NewStateQueue makes a StateQueue of the Index of a group and that of a setting.
func NewStateQueue(group, setting uint32) StateQueue { return makeQueue(int(group), setting) }

// Indexes are what NewStateQueue made it of.
func (q queue) Indexes() (group, setting uint32) { return uint32(q.group()), q.setting() }

// StateTopic is a topic; List is the position of its list in State.Lists.
type StateTopic struct {
	Name string
	List uint32
}

// StateMapping is a static mapping of a topic, encoded in both dialects.
type StateMapping struct {
	Topic, BrokerName, Registrant string
	Epoch                         int64
	Info                          [2]string
}

// StateLive is a live broker. AgeNanos is how long ago its last sign of life was.
type StateLive struct {
	ClusterName, BrokerName, BrokerAddr string
	BrokerID                            int64
	HAServerAddr                        codec.NullString
	DataVersion                         codec.DataVersion
	FilterServers                       []string
	TimeoutNanos                        int64
	AgeNanos                            int64
	FirstMillis, WallMillis             int64 // as Live's
	Applied                             int64
	Topics                              int
}

// Export returns the brokers and topics of the snapshot at now (monotonic nanoseconds). Its cost follows the number of topics,
// not topics × brokers. Any goroutine.
func (s *Snapshot) Export(now int64) *State {
	e := &State{Topics: make([]StateTopic, 0, s.topics.Len()), Live: make([]StateLive, 0, s.live.Len())}
	homes := map[string][]string{}
	for _, c := range s.brokers.clusters {
		for _, b := range c.brokers {
			homes[b] = append(homes[b], c.name)
		}
	}
	for _, g := range s.brokers.byName {
		e.Groups = append(e.Groups, StateGroup{uint32(g.index), g.Name, g.ClusterName, homes[g.Name], g.ZoneName, g.ActingMaster, g.Addrs})
	}
	for _, l := range s.live.All() {
		e.exportLive(l, now)
	}
	s.exportTopics(e)
	for topic, m := range s.mappings.All() {
		for _, x := range m.entries {
			e.Mappings = append(e.Mappings, StateMapping{topic, x.brokerName, x.registrant, x.epoch, x.info})
		}
	}
	return e
}

func (e *State) exportLive(l *Live, now int64) {
	last, alive := l.Cell.Last()
	if l.Provisional {
		last, alive = l.Seen, true
	}
	if !alive {
		return
	}
	e.Live = append(e.Live, StateLive{
		l.ClusterName, l.BrokerName, l.BrokerAddr, l.BrokerID, l.HAServerAddr, l.DataVersion, l.FilterServers, l.TimeoutNanos,
		max(now-last, 0), l.FirstMillis, l.WallMillis, l.Applied, l.Topics,
	})
}

func (s *Snapshot) exportTopics(e *State) {
	for n, p := range s.queues.pages {
		if p == nil {
			continue
		}
		for i, x := range p.entries {
			if x.tail != "" {
				e.Settings = append(e.Settings, StateSetting{uint32(n*settingsPerPage + i), x.read, x.write, x.perm, x.sysFlag})
			}
		}
	}
	numbers := map[*queueList]uint32{}
	for name, r := range s.topics.All() {
		n, ok := numbers[r.list]
		if !ok {
			n = uint32(len(e.Lists))
			numbers[r.list] = n
			e.Lists = append(e.Lists, r.list.queues)
		}
		e.Topics = append(e.Topics, StateTopic{name, n})
	}
}
