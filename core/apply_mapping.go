package core

import (
	"slices"

	"github.com/waymark-mq/waymark/codec"
)

// newMapping reports whether a mapping that comes with an unchanged DataVersion says more than what is known: there is none
// of its broker name, or an older or a restored one. The last part of a split round, which alone brings the mappings, has the version of the
// first; so has the registration behind one that was sent while a broker was halfway through making a static topic.
func (t *Table) newMapping(m *codec.TopicQueueMapping, registrant string) bool {
	known, ok := t.mappings.Get(m.Key)
	if !ok {
		return true
	}
	i, ok := known.find(mappedBroker(m, registrant))
	return !ok || known.entries[i].epoch < m.Epoch || known.entries[i].restored
}

// setMapping stores a static mapping of a topic, in place of the one of the same broker name, and reports whether it
// differs from that.
func (t *Table) setMapping(topic string, e mappingEntry) bool {
	var replaced []mappingEntry
	old, _ := t.mappings.Get(topic)
	if old != nil {
		if i, ok := old.find(e.brokerName); ok {
			replaced = old.entries[i : i+1]
		}
	}
	if len(replaced) > 0 && replaced[0] == e {
		return false
	}
	m := old.with(e)
	t.unmap(replaced, topic, m.entries)
	t.mappings.Set(topic, m)
	for _, name := range []string{e.brokerName, e.registrant} {
		topics, ok := t.mapped[name]
		if !ok {
			topics = map[string]struct{}{}
			t.mapped[name] = topics
		}
		topics[topic] = struct{}{}
	}
	return true
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
	var rest, dropped []mappingEntry
	for _, e := range m.entries {
		if drop(e) {
			dropped = append(dropped, e)
		} else {
			rest = append(rest, e)
		}
	}
	if len(rest) > 0 {
		t.mappings.Set(topic, &topicMappings{rest})
	} else {
		t.mappings.Delete(topic)
	}
	t.unmap(dropped, topic, rest)
}

// unmap forgets that a topic has mappings of and by the broker names in old, unless rest has others of them. Whoever
// registered them would bring them again: its registration is no longer what the table holds.
func (t *Table) unmap(old []mappingEntry, topic string, rest []mappingEntry) {
	for _, o := range old {
		if g := t.brokers.group(o.registrant); g != nil {
			t.brokers.mark(g)
		}
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
