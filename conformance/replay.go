package conformance

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// Replay is the client side of a capture, ready to be played.
type Replay struct {
	Lines []Line
	// Seeds are steps of peers that the capture does not hold, by its file's name:
	// they bring about the state that the answers show, and ask what the capture's
	// peers did not.
	Seeds map[string][]Step
}

// Play plays the peers' side of a capture, as fast as answers come, and returns
// the answers that differ. start is called for the first server and for one
// after each restart. An error says that the capture could not be played at all.
func (r *Replay) Play(start func() (Target, error), o Options) ([]Difference, error) {
	t, err := start()
	if err != nil {
		return nil, err
	}
	p := &replayer{session: newSession(t, o), replay: r, start: start}
	defer func() {
		if p.target != nil {
			p.target.Close()
		}
	}()
	if p.notified, err = listenAsPeers(r.Lines); err != nil {
		return nil, err
	}
	defer p.notified.close()
	answers := r.answers()
	for i := range r.Lines {
		l := &r.Lines[i]
		if err := p.seeds(l); err != nil {
			return p.differs, err
		}
		p.passTime(i)
		p.line(l, answers)
	}
	p.endAll()
	p.differs = append(p.differs, p.notified.rest()...)
	return p.differs, nil
}

type replayer struct {
	*session
	replay    *Replay
	start     func() (Target, error)
	notified  *peers
	clock     bool // the server's time passes as recorded
	restarted bool // connections of the recording end with the old server
}

type exchangeID struct {
	conn   int
	opaque int32
}

func (l *Line) exchangeID() exchangeID {
	var h struct{ Opaque int32 }
	if json.Unmarshal(l.Header, &h) != nil {
		return exchangeID{-1, 0}
	}
	return exchangeID{*l.Conn, h.Opaque}
}

// answers are the recorded answer frames by connection and opaque.
func (r *Replay) answers() map[exchangeID][]byte {
	m := map[exchangeID][]byte{}
	for i := range r.Lines {
		if l := &r.Lines[i]; l.Frame != nil && l.Dir == "<" && !l.fromServer() {
			m[l.exchangeID()] = l.Frame
		}
	}
	return m
}

// seeds plays what is to happen before the line.
func (p *replayer) seeds(l *Line) error {
	for i := range p.replay.Seeds[l.File] {
		step := &p.replay.Seeds[l.File][i]
		if step.Before != l.Line {
			continue
		}
		switch step.Do {
		case DoRestart:
			if err := p.restart(); err != nil {
				return err
			}
		case DoClock, DoClockEnd:
			p.clock = step.Do == DoClock
		case "":
			p.step("seeds/"+l.File, step)
		default:
			return fmt.Errorf("conformance: seeds/%s:%d: unknown do %q", l.File, step.Line, step.Do)
		}
	}
	return nil
}

func (p *replayer) restart() (err error) {
	p.target.Close()
	p.restarted = true
	p.target, err = p.start()
	return err
}

// passTime moves the server's clock by the time between the line and the one before.
func (p *replayer) passTime(i int) {
	if c, ok := p.target.(Clock); ok && p.clock && i > 0 {
		c.Advance(time.Duration(p.replay.Lines[i].Millis-p.replay.Lines[i-1].Millis) * time.Millisecond)
	}
}

func (p *replayer) line(l *Line, answers map[exchangeID][]byte) {
	switch {
	case l.Conn == nil: // a note
	case l.fromServer():
		if l.Frame != nil && l.Dir == ">" {
			p.differs = append(p.differs, p.notified.expect(l)...)
		}
	case l.Event == "open":
		if _, err := p.conn(strconv.Itoa(*l.Conn)); err != nil {
			p.report(l.where(), "open", "%v", err)
		}
	case l.Event == "close":
		p.close(l)
	case l.Dir == ">":
		e, err := l.exchange(answers[l.exchangeID()])
		if err != nil {
			p.report(l.where(), "", "%v", err)
			return
		}
		e.settle = e.reads()
		p.play(strconv.Itoa(*l.Conn), e)
	}
}

// close ends a connection as recorded. Where the server ended it because time
// passed, a server whose time cannot be moved is left by the peer.
func (p *replayer) close(l *Line) {
	name := strconv.Itoa(*l.Conn)
	_, canWait := p.target.(Clock)
	if c := p.conns[name]; c != nil && l.Dir == "<" && (p.restarted || canWait) {
		if err := c.waitEnd(answerWait); err != nil {
			p.report(l.where(), "close", "%v", err)
		}
	}
	p.end(name, l.where())
}
