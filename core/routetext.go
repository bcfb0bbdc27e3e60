package core

import (
	"sync/atomic"

	"github.com/waymark-mq/waymark/codec"
)

// routeText is what the route answers of a list's topics have in common: all of the answer of a
// topic without order config and static mappings. Immutable.
type routeText struct {
	list    *queueList
	dialect codec.Dialect
	text    []byte
	queues  int // where the queues begin in text, and the order config goes
}

// routeTexts keeps texts of lists, each encoded by its first reader. All go as soon as any
// group says something else, or when mostDeadTexts lists have ended since they began: their texts hold
// places and bytes. What doesn't fit is put together from fragments each time: a list whose place
// another one has, and all once their sizes come to mostTextBytes.
//
// Concurrency contract: written by any reader, atomically; two that encode the same text at once
// count its bytes twice.
type routeTexts struct {
	bytes atomic.Int64
	slots [textSlots]atomic.Pointer[routeText]
}

const (
	textSlots     = 512
	mostTextBytes = 8 << 20
	mostDeadTexts = 64
)

func (t *routeTexts) slot(l *queueList, d codec.Dialect) *atomic.Pointer[routeText] {
	return &t.slots[(l.sum+uint64(d))%textSlots]
}

// find returns the text of a list, or nil.
func (t *routeTexts) find(l *queueList, d codec.Dialect) *routeText {
	if r := t.slot(l, d).Load(); r != nil && r.list == l && r.dialect == d {
		return r
	}
	return nil
}

// newRouteText encodes a list's text and keeps it, or returns nil where there is no room.
func (s *Snapshot) newRouteText(l *queueList, d codec.Dialect) *routeText {
	texts := s.texts
	slot := texts.slot(l, d)
	if slot.Load() != nil || texts.bytes.Load() > mostTextBytes {
		return nil
	}
	r := &routeText{list: l, dialect: d, text: s.appendBrokerDatas(nil, l, d)}
	r.queues = len(r.text)
	r.text = append(s.appendQueueDatas(r.text, l), '}')
	texts.bytes.Add(int64(cap(r.text)))
	slot.Store(r)
	return r
}
