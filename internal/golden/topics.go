package golden

import "github.com/waymark-mq/waymark/codec"

func (m *Model) deleteTopic(topic, cluster string) {
	if cluster == "" {
		delete(m.topics, topic)
		delete(m.mappings, topic)
		return
	}
	for name := range m.clusters[cluster] {
		m.dropQueue(topic, name)
		m.dropMapping(topic, name)
	}
}

// registerTopic stores the items in order up to the first unknown broker name;
// a new topic is stored only if all names are known.
func (m *Model) registerTopic(topic string, queues []codec.QueueData) {
	if m.topics[topic] == nil {
		for _, q := range queues {
			if m.groups[q.BrokerName] == nil {
				return
			}
		}
	}
	for _, q := range queues {
		if m.groups[q.BrokerName] == nil {
			return
		}
		m.putQueue(topic, q)
	}
}

// changePerms rewrites the permission of the broker's share of every topic and
// counts those topics, changed or not.
func (m *Model) changePerms(name string, change func(perm int32) int32) (count int) {
	for _, queues := range m.topics {
		q, has := queues[name]
		if !has {
			continue
		}
		q.Perm = change(q.Perm)
		queues[name] = q
		count++
	}
	return count
}

func (m *Model) putQueue(topic string, q codec.QueueData) {
	if m.topics[topic] == nil {
		m.topics[topic] = map[string]codec.QueueData{}
	}
	m.topics[topic][q.BrokerName] = q
}

// dropQueue removes the broker's share; a topic without any goes, with its mappings.
func (m *Model) dropQueue(topic, name string) {
	queues, known := m.topics[topic]
	if !known {
		return
	}
	delete(queues, name)
	if len(queues) == 0 {
		delete(m.topics, topic)
		delete(m.mappings, topic)
	}
}

// dropMapping removes the mapping of the topic that the broker hosts.
func (m *Model) dropMapping(topic, host string) {
	delete(m.mappings[topic], host)
	if len(m.mappings[topic]) == 0 {
		delete(m.mappings, topic)
	}
}

// dropMappings removes all mappings that the broker hosts or has registered.
func (m *Model) dropMappings(name string) {
	for _, topic := range sortedKeys(m.mappings) {
		for _, host := range sortedKeys(m.mappings[topic]) {
			if host == name || m.mappings[topic][host].registrant == name {
				m.dropMapping(topic, host)
			}
		}
	}
}
