package core

import (
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/codec"
)

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
	switch e := s.extrasOf(r); {
	case e != extras{}:
		return e.appendAround(dst, t), nil, true
	case len(t.text) >= sharedBytes:
		return dst, t.text, true
	}
	return append(dst, t.text...), nil, true
}

// appendFragments appends an answer of which no text is kept.
func (s *Snapshot) appendFragments(dst []byte, r *TopicRoute, d codec.Dialect) []byte {
	e := s.extrasOf(r)
	dst = s.appendBrokerDatas(dst, r.list, d)
	dst = e.appendOrderConf(dst)
	dst = s.appendQueueDatas(dst, r.list)
	dst = e.appendMappings(dst, d)
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
