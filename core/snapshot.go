package core

import (
	"iter"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core/cow"
)

// Snapshot is the whole state at one moment. It is immutable but for LiveCells
// and for texts and list answers encoded on demand, owns nothing but memory, and may be
// kept and read by any goroutine without a lock.
type Snapshot struct {
	topics   *cow.Map[*TopicRoute]
	mappings *cow.Map[*topicMappings] // static mappings by topic, known or not
	live     *cow.Map[*Live]          // by liveKey
	brokers  *brokerTable
	queues   *settingTable
	kv       *kvTable
	settings *Settings

	texts *routeTexts // of the lists of queues

	filtered int // entries of live that have filter servers

	// Answers made of many topics, each replaced when what it is made of changes.
	topicList    *encoded
	unitLists    *[numberOfUnitLists]encoded
	clusterLists *clusterLists
	topicBytes   int // length of all topic names as lists have them

	restored *RestoreStatus // nil without a restored state, and once its grace is over
}

// emptySnapshot is where a table begins.
func emptySnapshot(s Settings, kv *kvTable) *Snapshot {
	return &Snapshot{
		topics:       &cow.Map[*TopicRoute]{},
		mappings:     &cow.Map[*topicMappings]{},
		live:         &cow.Map[*Live]{},
		brokers:      &brokerTable{},
		texts:        &routeTexts{},
		queues:       &settingTable{},
		kv:           kv,
		settings:     &s,
		topicList:    &encoded{},
		unitLists:    &[numberOfUnitLists]encoded{},
		clusterLists: &clusterLists{},
	}
}

// Settings are the settings that the snapshot's answers follow.
func (s *Snapshot) Settings() Settings { return *s.settings }

// Brokers is the number of (cluster, address) pairs that are live, restored ones counted.
func (s *Snapshot) Brokers() int { return s.live.Len() }

// Topics is the number of topics.
func (s *Snapshot) Topics() int { return s.topics.Len() }

// AllLive yields what each live broker last registered, in no order.
func (s *Snapshot) AllLive() iter.Seq[*Live] {
	return func(yield func(*Live) bool) {
		for _, l := range s.live.All() {
			if !yield(l) {
				return
			}
		}
	}
}

// InternTopic returns name as a string, the table's own if it knows the topic.
func (s *Snapshot) InternTopic(name []byte) string {
	if known, _, ok := s.topics.GetBytes(name); ok {
		return known
	}
	return string(name)
}

// Live returns what the broker at addr registered in the cluster.
func (s *Snapshot) Live(cluster, addr []byte) (*Live, bool) {
	var buf [512]byte // longer keys cost an allocation
	_, l, ok := s.live.GetBytes(appendLiveKey(buf[:0], cluster, addr))
	return l, ok
}

// Current reports whether applying the registration behind l again would change
// nothing but its liveness: nothing has touched its group, its topics or the settings since.
func (s *Snapshot) Current(l *Live) bool {
	if l.settings != s.settings || l.group >= len(s.brokers.groups) {
		return false
	}
	g := s.brokers.groups[l.group]
	return g != nil && g.generation == l.generation
}

// RegisterReply returns the addresses that a registration's answer carries: the
// live master's and its HA service's, for anybody but the master.
func (s *Snapshot) RegisterReply(l *Live) (masterAddr, haServerAddr codec.NullString) {
	return masterOf(l, s.brokers.group(l.BrokerName), s.live.Get)
}

func masterOf(l *Live, g *Group, find func(key string) (*Live, bool)) (masterAddr, haServerAddr codec.NullString) {
	if g == nil || l.BrokerID == MasterID {
		return
	}
	addr, ok := g.addr(MasterID)
	if !ok {
		return
	}
	if m, ok := find(liveKey(l.ClusterName, addr)); ok {
		return codec.NullString{S: addr, Valid: true}, m.HAServerAddr
	}
	return
}
