package core

import (
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/codec"
)

// OrderTopicConfig is the KV namespace of ordered topics.
const OrderTopicConfig = "ORDER_TOPIC_CONFIG"

// memberTopicPrefix begins the topics by which brokers of 5.x ask for their own group.
const memberTopicPrefix = "rmq_sys_SYNC_BROKER_MEMBER_"

// RouteOptions is what a route answer depends on besides the snapshot.
type RouteOptions struct {
	Dialect codec.Dialect
	// Zone, if not empty, keeps only brokers of that zone and groups without a master.
	Zone []byte
}

// AppendRoute appends the answer to 105, or reports that the topic has no route.
// It allocates nothing but room in dst, except for the forms that appendSpecial serves and
// once for the text that a list's topics have in common.
func (s *Snapshot) AppendRoute(dst, topic []byte, o RouteOptions) ([]byte, bool) {
	dst, tail, found := s.AppendRouteHead(dst, topic, o)
	return append(dst, tail...), found
}

// sharedBytes is the size from which on a text is rather sent from where it is than copied.
const sharedBytes = 16 << 10

// AppendRouteHead is AppendRoute, but leaves a large text that many topics share where it is: tail, if not
// nil, is the rest of the answer. It is read only.
func (s *Snapshot) AppendRouteHead(dst, topic []byte, o RouteOptions) (out, tail []byte, found bool) {
	_, r, ok := s.topics.GetBytes(topic)
	if !ok {
		return dst, nil, false
	}
	if len(o.Zone) > 0 || s.filtered > 0 || s.needsActingMaster(r) {
		return s.appendSpecial(dst, r, o), nil, true
	}
	t := s.texts.find(r.list, o.Dialect)
	if t == nil {
		if t = s.newRouteText(r.list, o.Dialect); t == nil {
			return s.appendFragments(dst, r, o.Dialect), nil, true
		}
	}
	switch {
	case s.hasMore(r):
		return s.appendAround(dst, r, t), nil, true
	case len(t.text) >= sharedBytes:
		return dst, t.text, true
	}
	return append(dst, t.text...), nil, true
}

// hasMore reports whether the topic's answer says more than its list's text.
func (s *Snapshot) hasMore(r *TopicRoute) bool {
	if s.mappings.Len() > 0 {
		if _, ok := s.mappings.Get(r.name); ok {
			return true
		}
	}
	_, ordered := s.orderConf(r)
	return ordered
}

// appendAround appends a text with the topic's order config and static mappings, if it has them.
func (s *Snapshot) appendAround(dst []byte, r *TopicRoute, t *routeText) []byte {
	dst = append(dst, t.text[:t.queues]...)
	dst = s.appendOrderConf(dst, r)
	dst = append(dst, t.text[t.queues:len(t.text)-1]...)
	dst = s.appendMappings(dst, r, t.dialect)
	return append(dst, '}')
}

// appendFragments appends an answer of which no text is kept.
func (s *Snapshot) appendFragments(dst []byte, r *TopicRoute, d codec.Dialect) []byte {
	dst = s.appendBrokerDatas(dst, r.list, d)
	dst = s.appendOrderConf(dst, r)
	dst = s.appendQueueDatas(dst, r.list)
	dst = s.appendMappings(dst, r, d)
	return append(dst, '}')
}

func (s *Snapshot) appendBrokerDatas(dst []byte, l *queueList, d codec.Dialect) []byte {
	dst = append(dst, `{"brokerDatas":[`...)
	for i, q := range l.queues {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, s.brokers.groups[q.group()].brokerData[d]...)
	}
	return append(dst, `],"filterServerTable":{}`...)
}

func (s *Snapshot) appendQueueDatas(dst []byte, l *queueList) []byte {
	dst = append(dst, `,"queueDatas":[`...)
	for i, q := range l.queues {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = s.appendQueue(dst, q)
	}
	return append(dst, ']')
}

func (s *Snapshot) appendQueue(dst []byte, q queue) []byte {
	dst = append(dst, s.brokers.groups[q.group()].queueHead...)
	return append(dst, s.queues.at(q.setting()).tail...)
}

func (s *Snapshot) appendOrderConf(dst []byte, r *TopicRoute) []byte {
	v, ok := s.orderConf(r)
	if !ok {
		return dst
	}
	dst = append(dst, `,"orderTopicConf":`...)
	return codec.AppendString(dst, v)
}

func (s *Snapshot) orderConf(r *TopicRoute) (string, bool) {
	if !s.settings.OrderMessageEnable || len(s.kv.namespaces) == 0 {
		return "", false
	}
	return s.KV(OrderTopicConfig, r.name)
}

func (s *Snapshot) appendMappings(dst []byte, r *TopicRoute, d codec.Dialect) []byte {
	if s.mappings.Len() == 0 {
		return dst
	}
	m, ok := s.mappings.Get(r.name)
	if !ok {
		return dst
	}
	dst = append(dst, `,"topicQueueMappingByBroker":`...)
	return m.append(dst, d)
}

// needsActingMaster reports whether some group of the topic shows its smallest id as the master.
func (s *Snapshot) needsActingMaster(r *TopicRoute) bool {
	if !s.settings.SupportActingMaster || strings.HasPrefix(r.name, memberTopicPrefix) {
		return false
	}
	return slices.ContainsFunc(r.list.queues, s.acting)
}

// acting reports whether the queue's group, having lost its master, shows its
// smallest id in its place: only where the group asked for it and the queue
// takes no messages.
func (s *Snapshot) acting(q queue) bool {
	g := s.brokers.groups[q.group()]
	return g.ActingMaster && !g.hasMaster() && minID(g.Addrs) != noID && !s.queues.at(q.setting()).writable()
}
