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
	info       [2]string // encoded, by dialect
}

func newMappingEntry(m *codec.TopicQueueMapping, registrant string) mappingEntry {
	e := mappingEntry{brokerName: registrant, registrant: registrant}
	if m.BrokerName.Valid {
		e.brokerName = m.BrokerName.S
	}
	for _, d := range []codec.Dialect{codec.Standard, codec.Legacy} {
		e.info[d] = string(m.Append(nil, d))
	}
	return e
}

// with returns the mappings with e in place of the one of the same broker name.
func (t *topicMappings) with(e mappingEntry) *topicMappings {
	var entries []mappingEntry
	if t != nil {
		entries = slices.Clone(t.entries)
	}
	i, ok := slices.BinarySearchFunc(entries, e.brokerName, func(e mappingEntry, name string) int { return strings.Compare(e.brokerName, name) })
	if ok {
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
