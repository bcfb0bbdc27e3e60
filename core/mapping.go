package core

import (
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/codec"
)

// topicMappings are the static mappings of one topic, by broker name; immutable.
type topicMappings struct{ entries []mappingEntry }

type mappingEntry struct {
	brokerName string    // bname of the mapping, or its registrant where that was null
	registrant string    // broker name that registered it
	epoch      int64     // grows with each change of the mapping
	info       [2]string // encoded, by dialect
	restored   bool      // no registration has brought it since the start
}

// mappedBroker is the broker name whose queues a mapping is of.
func mappedBroker(m *codec.TopicQueueMapping, registrant string) string {
	if m.BrokerName.Valid {
		return m.BrokerName.S
	}
	return registrant
}

func newMappingEntry(m *codec.TopicQueueMapping, registrant string) mappingEntry {
	e := mappingEntry{brokerName: mappedBroker(m, registrant), registrant: registrant, epoch: m.Epoch}
	for _, d := range []codec.Dialect{codec.Standard, codec.Legacy} {
		e.info[d] = string(m.Append(nil, d))
	}
	return e
}

func (t *topicMappings) find(brokerName string) (i int, ok bool) {
	return slices.BinarySearchFunc(t.entries, brokerName, func(e mappingEntry, name string) int { return strings.Compare(e.brokerName, name) })
}

// with returns the mappings with e in place of the one of the same broker name.
func (t *topicMappings) with(e mappingEntry) *topicMappings {
	if t == nil {
		return &topicMappings{[]mappingEntry{e}}
	}
	entries := slices.Clone(t.entries)
	if i, ok := t.find(e.brokerName); ok {
		entries[i] = e
	} else {
		entries = slices.Insert(entries, i, e)
	}
	return &topicMappings{entries}
}

// append appends topicQueueMappingByBroker.
func (t *topicMappings) append(dst []byte, d codec.Dialect) []byte {
	dst = append(dst, '{')
	for i, e := range t.entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = codec.AppendString(dst, e.brokerName)
		dst = append(dst, ':')
		dst = append(dst, e.info[d]...)
	}
	return append(dst, '}')
}
