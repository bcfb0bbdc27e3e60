package namesrv

import (
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// parse reads the header of f, a frame of the session in hand, into l.cmd: by a shape if one has
// it, else in full. l.beat is set for the heartbeat that the session knows.
func (l *loop) parse(f codec.Frame) error {
	s := l.session
	if l.beat = false; l.routes.parse(&l.cmd, f, &s.route) {
		return nil
	}
	if err := l.cmd.Parse(f); err != nil {
		return err
	}
	switch l.cmd.Code {
	case codec.RequestGetRouteInfoByTopic:
		l.routes.learn(&l.cmd, f, &s.route)
	case codec.RequestBrokerHeartbeat:
		if s.beat == nil {
			s.beat = new(beatShape)
		}
		l.beat = s.beat.learn(&l.cmd, f)
	}
	return nil
}

// thrift keeps learning from costing more than it brings in: a header takes as long to learn as recognising it some ten
// times saves. A peer whose headers are never alike (a signature over the topic, several brokers on one connection) would be
// learnt in vain each time; once too little has come in, only every so many is.
type thrift struct {
	debt   uint32 // what learning has cost and recognising has not yet brought in
	misses uint32
}

const (
	learningCost = 16
	mostDebt     = 4 * learningCost
	missesTried  = 256
)

func (t *thrift) recognised() {
	if t.debt > 0 {
		t.debt--
	}
}

// mayLearn is asked for each request that was not recognised.
func (t *thrift) mayLearn() bool {
	t.misses++
	if t.debt+learningCost > mostDebt && t.misses%missesTried != 0 {
		return false
	}
	t.debt = min(t.debt+learningCost, mostDebt)
	return true
}

// routeShapes recognises route queries, which differ in topic and opaque. Clients of one language and version write all else
// alike, so that a loop's connections share a few shapes, which stay in the processor's cache; a connection keeps one
// byte. The loop's own.
type routeShapes struct {
	shapes [routeShapesKept]routeShape
	next   int // where to learn if none was of less use
	thrift
}

type routeShape struct {
	codec.Shape
	hits uint32 // halved at each learning
}

const routeShapesKept = 8

// routeHint is the number of the shape that a connection's last query had, from 1.
type routeHint uint8

func (r *routeShapes) parse(c *codec.Command, f codec.Frame, hint *routeHint) bool {
	if *hint == 0 {
		return false // it has never asked for a route
	}
	if r.shapes[*hint-1].Parse(c, f) {
		r.hit(*hint)
		return true
	}
	return r.find(c, f, hint)
}

func (r *routeShapes) hit(hint routeHint) {
	r.recognised()
	if s := &r.shapes[hint-1]; s.hits < 1<<31 {
		s.hits++
	}
}

// find looks for a shape that has f.
func (r *routeShapes) find(c *codec.Command, f codec.Frame, hint *routeHint) bool {
	for i := range r.shapes {
		if r.shapes[i].Parse(c, f) {
			*hint = routeHint(i + 1)
			r.hit(*hint)
			return true
		}
	}
	return false
}

// learn remembers the header of a query that was parsed in full, in the place of the shape that was of least use.
func (r *routeShapes) learn(c *codec.Command, f codec.Frame, hint *routeHint) {
	if (*hint == 0 && r.find(c, f, hint)) || !r.mayLearn() {
		return
	}
	least := r.next
	for i := range r.shapes {
		if r.shapes[i].hits < r.shapes[least].hits {
			least = i
		}
		r.shapes[i].hits /= 2
	}
	r.shapes[least].hits = 0
	r.next = (least + 1) % routeShapesKept
	if r.shapes[least].Learn(c, f.Header, "topic") {
		*hint = routeHint(least + 1)
	}
}

// beatShape recognises the heartbeats of the broker on one connection, which differ in the opaque alone. It is all that a
// heartbeat reads of its sender but for the cell. The loop's own.
type beatShape struct {
	known  codec.Repeat
	cell   *core.LiveCell // the broker's; nil: to be looked up
	oneway bool
	thrift
}

// maxBeatHeader bounds what a connection keeps of a heartbeat. Real headers have some 300 bytes.
const maxBeatHeader = 2 << 10

// learn reports whether the heartbeat's header, which was parsed in full, is known now.
func (b *beatShape) learn(c *codec.Command, f codec.Frame) bool {
	if _, known := b.known.Opaque(f); known {
		return true
	}
	if len(f.Header) > maxBeatHeader || !b.mayLearn() {
		return false
	}
	b.cell, b.oneway = nil, c.IsOneway()
	return b.known.Learn(c, f.Header)
}

// knownBeat answers a heartbeat that comes again, for a broker that is still there, without parsing it.
func (l *loop) knownBeat(dst []byte, f codec.Frame) (answer []byte, ok bool) {
	b := l.session.beat
	if b == nil || b.cell == nil {
		return dst, false
	}
	if rules := l.guard.rules.Load(); rules != nil && !l.session.peer.mayBeat(rules) {
		return dst, false
	}
	opaque, ok := b.known.Opaque(f)
	if !ok || !l.touch(b.cell) { // a cell that lives is the table's
		return dst, false
	}
	b.recognised()
	if b.oneway {
		return dst, true
	}
	return appendSuccess(dst, l.serializeType, opaque, nil), true
}
