package core

import "slices"

// setMapping stores a static mapping of a topic, in place of the one of the same broker name.
func (t *Table) setMapping(topic string, e mappingEntry) {
	old, _ := t.mappings.Get(topic)
	m := old.with(e)
	t.mappings.Set(topic, m)
	if old != nil {
		t.unmap(old.entries, topic, m.entries)
	}
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
	t.unmap(m.entries, topic, rest)
}

// unmap forgets that a topic has mappings of and by the broker names in old, but for those in rest.
func (t *Table) unmap(old []mappingEntry, topic string, rest []mappingEntry) {
	for _, o := range old {
		for _, name := range []string{o.brokerName, o.registrant} {
			if slices.ContainsFunc(rest, func(e mappingEntry) bool { return e.brokerName == name || e.registrant == name }) {
				continue
			}
			delete(t.mapped[name], topic)
			if len(t.mapped[name]) == 0 {
				delete(t.mapped, name)
			}
		}
	}
}
