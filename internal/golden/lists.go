package golden

import (
	"github.com/waymark-mq/waymark/codec"
)

// ClusterInfo is the body of GET_BROKER_CLUSTER_INFO (106).
func (m *Model) ClusterInfo() string {
	brokers := map[string]string{}
	for name, g := range m.groups {
		brokers[name] = encodeBroker(name, g, codec.Legacy)
	}
	clusters := map[string]string{}
	for cluster, set := range m.clusters {
		clusters[cluster] = names(sortedKeys(set))
	}
	return object(map[string]string{"brokerAddrTable": object(brokers), "clusterAddrTable": object(clusters)})
}

// TopicList is the body of GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206).
func (m *Model) TopicList() string { return topicList(sortedKeys(m.topics)) }

// TopicsByCluster is the body of GET_TOPICS_BY_CLUSTER (224); empty for an unknown cluster.
func (m *Model) TopicsByCluster(cluster string) string {
	found := map[string]bool{}
	for topic, queues := range m.topics {
		for name := range queues {
			if m.clusters[cluster][name] {
				found[topic] = true
			}
		}
	}
	return topicList(sortedKeys(found))
}

// SystemTopics is the body of GET_SYSTEM_TOPIC_LIST_FROM_NS (304): the names of
// clusters and brokers, and the smallest-id address (also a negative one's) of the first broker name.
func (m *Model) SystemTopics() string {
	found := map[string]bool{}
	for cluster, set := range m.clusters {
		found[cluster] = true
		for name := range set {
			found[name] = true
		}
	}
	members := map[string]string{"topicList": names(sortedKeys(found))}
	if brokers := sortedKeys(m.groups); len(brokers) > 0 {
		g := m.groups[brokers[0]]
		members["brokerAddr"] = quote(g.addrs[g.ids()[0]])
	}
	return object(members)
}

// UnitTopics is the body of 311 (unit topics), 312 (with unit subscriptions)
// and 313 (with unit subscriptions, not unit). Any broker's share counts.
func (m *Model) UnitTopics(code int) string {
	wanted := func(flags int32) bool {
		unit, unitSub := flags&codec.TopicFlagUnit != 0, flags&codec.TopicFlagUnitSub != 0
		switch code {
		case 311:
			return unit
		case 312:
			return unitSub
		default:
			return unitSub && !unit
		}
	}
	found := map[string]bool{}
	for topic, queues := range m.topics {
		for _, q := range queues {
			if wanted(q.TopicSysFlag) {
				found[topic] = true
			}
		}
	}
	return topicList(sortedKeys(found))
}

// MemberGroup is the body of GET_BROKER_MEMBER_GROUP (901). The cluster is
// echoed, not checked; null names are left out and known to nobody.
func (m *Model) MemberGroup(cluster, broker codec.NullString) string {
	members := map[string]string{"brokerAddrs": "{}"}
	if cluster.Valid {
		members["cluster"] = quote(cluster.S)
	}
	if broker.Valid {
		members["brokerName"] = quote(broker.S)
		if g := m.groups[broker.S]; g != nil {
			members["brokerAddrs"] = encodeAddrs(g, codec.Legacy)
		}
	}
	return object(map[string]string{"brokerMemberGroup": object(members)})
}

func topicList(sorted []string) string {
	return object(map[string]string{"topicList": names(sorted)})
}
