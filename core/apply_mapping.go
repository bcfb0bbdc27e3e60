package core

import "slices"

// setMapping stores a static mapping of a topic.
func (t *Table) setMapping(topic string, e mappingEntry) {
	m, _ := t.mappings.Get(topic)
	t.mappings.Set(topic, m.with(e))
	for _, name := range []string{e.brokerName, e.registrant} {
		topics, ok := t.mapped[name]
		if !ok {
			topics = map[string]struct{}{}
			t.mapped[name] = topics
		}
		topics[topic] = struct{}{}
	}
}

// removeMappings takes all mappings off a topic.
func (t *Table) removeMappings(topic string) {
	t.removeMapping(topic, func(mappingEntry) bool { return true })
}

// removeMappingsOf takes off all mappings of a broker name that is gone, and those that it registered.
func (t *Table) removeMappingsOf(brokerName string) {
	for _, topic := range sortedKeys(t.mapped[brokerName]) {
		t.removeMapping(topic, func(e mappingEntry) bool { return e.brokerName == brokerName || e.registrant == brokerName })
	}
}

func (t *Table) removeMapping(topic string, drop func(mappingEntry) bool) {
	m, ok := t.mappings.Get(topic)
	if !ok || !slices.ContainsFunc(m.entries, drop) {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(m.entries), drop)
	if len(rest) > 0 {
		t.mappings.Set(topic, &topicMappings{rest})
	} else {
		t.mappings.Delete(topic)
	}
	for _, e := range m.entries {
		t.unmap(e.brokerName, topic, rest)
		t.unmap(e.registrant, topic, rest)
	}
}

// unmap forgets that a topic has a mapping of or by the broker name, unless one of rest is such.
func (t *Table) unmap(brokerName, topic string, rest []mappingEntry) {
	if slices.ContainsFunc(rest, func(e mappingEntry) bool { return e.brokerName == brokerName || e.registrant == brokerName }) {
		return
	}
	delete(t.mapped[brokerName], topic)
	if len(t.mapped[brokerName]) == 0 {
		delete(t.mapped, brokerName)
	}
}
