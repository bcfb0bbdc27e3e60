package core

import "github.com/waymark-mq/waymark/codec"

// extras is what a route answer says beyond the queues of the topic's list; mostly nothing.
type extras struct {
	order    string
	ordered  bool
	mappings *topicMappings // nil: none
}

func (s *Snapshot) extrasOf(r *TopicRoute) (e extras) {
	if s.settings.OrderMessageEnable && len(s.kv.namespaces) > 0 {
		e.order, e.ordered = s.KV(OrderTopicConfig, r.name)
	}
	if s.mappings.Len() > 0 {
		e.mappings, _ = s.mappings.Get(r.name)
	}
	return e
}

// appendAround appends the text of the topic's list with the extras in their places.
func (e *extras) appendAround(dst []byte, t *routeText) []byte {
	dst = append(dst, t.text[:t.queues]...)
	dst = e.appendOrderConf(dst)
	dst = append(dst, t.text[t.queues:len(t.text)-1]...)
	dst = e.appendMappings(dst, t.dialect)
	return append(dst, '}')
}

func (e *extras) appendOrderConf(dst []byte) []byte {
	if !e.ordered {
		return dst
	}
	dst = append(dst, `,"orderTopicConf":`...)
	return codec.AppendString(dst, e.order)
}

func (e *extras) appendMappings(dst []byte, d codec.Dialect) []byte {
	if e.mappings == nil {
		return dst
	}
	dst = append(dst, `,"topicQueueMappingByBroker":`...)
	return e.mappings.append(dst, d)
}
