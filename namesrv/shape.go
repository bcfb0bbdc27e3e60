package namesrv

import (
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// shapes recognises what one connection asks again and again in JSON headers: a client's route
// queries, which differ in topic and opaque, and a broker's heartbeats, which differ in the opaque
// alone. A connection that sends neither costs a few words. The loop's own.
type shapes struct {
	route learner
	beat  learner
	cell  *core.LiveCell // of the broker that the beat is of; nil: look it up
}

// parse reads the header of f into c: by a shape if one has it, else in full. beat reports that it is
// the heartbeat that the shape has.
func (s *shapes) parse(c *codec.Command, f codec.Frame) (beat bool, err error) {
	if s.route.parse(c, f) {
		return false, nil
	}
	if s.beat.parse(c, f) {
		return true, nil
	}
	if err := c.Parse(f); err != nil || f.Type != codec.SerializeJSON {
		return false, err
	}
	switch c.Code {
	case codec.RequestGetRouteInfoByTopic:
		s.route.learn(c, f.Header, "topic")
	case codec.RequestBrokerHeartbeat:
		if beat = s.beat.learn(c, f.Header, ""); beat {
			s.cell = nil
		}
	}
	return beat, nil
}

// learner recognises one kind of request by the last header learnt.
type learner struct {
	known  *codec.Shape
	debt   uint32 // what learning has cost and recognising has not yet brought in
	misses uint32
}

// Learning costs as much as recognising saves some ten times. A peer whose headers differ in more (a signature
// over the topic, several brokers on one connection) would be learnt in vain each time: once it has
// brought in too little, only every so many is.
const (
	learningCost = 16
	mostDebt     = 4 * learningCost
	missesTried  = 256
)

func (l *learner) parse(c *codec.Command, f codec.Frame) bool {
	if l.known == nil || !l.known.Parse(c, f) {
		return false
	}
	if l.debt > 0 {
		l.debt--
	}
	return true
}

// learn reports whether the header is known now.
func (l *learner) learn(c *codec.Command, header []byte, field string) bool {
	l.misses++
	if l.debt+learningCost > mostDebt && l.misses%missesTried != 0 {
		return false
	}
	l.debt = min(l.debt+learningCost, mostDebt)
	if l.known == nil {
		l.known = new(codec.Shape)
	}
	return l.known.Learn(c, header, field)
}
