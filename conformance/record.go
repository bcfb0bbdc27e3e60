package conformance

import (
	"encoding/base64"
	"time"
	"unicode/utf8"
)

// Record plays steps on a fresh server and returns what it answered to each of
// them, nil where nothing came. A step that settles is asked after the time that
// Apache needs. Opaques are kept only of headers that were written as text.
func Record(steps []Step, t Target) ([]*Want, error) {
	s := newSession(t, Options{})
	defer s.endAll()
	wants := make([]*Want, len(steps))
	for i := range steps {
		step := &steps[i]
		if step.Close {
			s.end(step.Conn, "")
			continue
		}
		if step.Settle {
			time.Sleep(settleWait / 10)
		}
		c, err := s.conn(step.Conn)
		if err != nil {
			return nil, err
		}
		e, err := step.exchange("", c.nextOpaque())
		if err != nil {
			return nil, err
		}
		if e.Flag&flagOneway == 0 {
			e.Want = &Answer{} // some answer
		}
		a, err := s.ask(step.Conn, e)
		if err != nil {
			return nil, err
		}
		wants[i] = a.want(e.raw)
	}
	return wants, nil
}

// want is the form in which scenarios keep an answer.
func (a *Answer) want(opaque bool) *Want {
	if a == nil {
		return nil
	}
	w := &Want{Closed: a.Closed, Code: a.Code, Flag: a.Flag, Type: a.Type, Remark: a.Remark, Ext: a.Ext}
	if opaque {
		w.Opaque = a.Opaque
	}
	if utf8.Valid(a.Body) {
		w.Body = string(a.Body)
	} else {
		w.BodyB64 = base64.StdEncoding.EncodeToString(a.Body)
	}
	return w
}
