package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"time"
)

// Exchange is a request and its recorded answer, in a form that deviations can judge.
type Exchange struct {
	File    string
	Line    int
	Code    int32
	Flag    int32
	Opaque  int32
	Version int32
	Ext     map[string]string
	Body    []byte
	Want    *Answer // nil: no answer comes

	frame  []byte  // what is sent
	exact  bool    // recorded as a frame
	settle bool    // the answer may take a while
	raw    bool    // the header was written by hand: its opaque stands in Want
	ours   *Answer // Waymark's answer, where the step holds one of its own
}

// exchange of a step, to be sent with that opaque.
func (s *Step) exchange(file string, opaque int32) (*Exchange, error) {
	frame, err := s.frame(opaque)
	if err != nil {
		return nil, err
	}
	e := &Exchange{File: file, Line: s.Line, Code: s.Code, Flag: s.Flag, Opaque: opaque, Version: s.Version, Ext: s.Ext,
		frame: frame, settle: s.Settle, raw: s.Header != ""}
	if e.Body, err = bodyBytes(s.Body, s.BodyB64); err != nil {
		return nil, err
	}
	if e.Want, err = s.Want.answer(opaque); err != nil {
		return nil, err
	}
	e.ours, err = s.Ours.answer(opaque)
	return e, err
}

// exchange of a capture's request frame; answer is the frame that was recorded
// as its answer, nil if there was none.
func (l *Line) exchange(answer []byte) (*Exchange, error) {
	e := &Exchange{File: l.File, Line: l.Line, frame: l.Frame, exact: true}
	// The decoded header serves to tell requests apart; what is sent is the frame.
	var h struct {
		Code, Flag, Opaque, Version int32
		ExtFields                   map[string]string
	}
	if err := json.Unmarshal(l.Header, &h); err != nil {
		return nil, fmt.Errorf("conformance: %s: %w", l.where(), err)
	}
	e.Code, e.Flag, e.Opaque, e.Version, e.Ext = h.Code, h.Flag, h.Opaque, h.Version, h.ExtFields
	f, err := splitFrame(l.Frame)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.where(), err)
	}
	e.Body = f.Body
	if answer != nil {
		if e.Want, err = parseAnswer(answer); err != nil {
			return nil, fmt.Errorf("%s: %w", l.where(), err)
		}
	}
	return e, nil
}

func (e *Exchange) where() string { return fmt.Sprintf("%s:%d", e.File, e.Line) }

// String shows the request in a report.
func (e *Exchange) String() string {
	if e.raw {
		return fmt.Sprintf("header %q", e.frame[8:])
	}
	return fmt.Sprintf("code %d version %d flag %d ext %v body %.200q", e.Code, e.Version, e.Flag, e.Ext, e.Body)
}

// reads tells whether the request can be asked again without changing anything.
func (e *Exchange) reads() bool {
	switch e.Code {
	case 101, 105, 106, 206, 219, 224, 304, 311, 312, 313, 319, 322, 901:
		return true
	}
	return false
}

// session plays exchanges on one server.
type session struct {
	target  Target
	options Options
	conns   map[string]*conn
	quiet   time.Time // when a peer last did what is not answered: ended a connection, sent one-way
	differs []Difference
}

func newSession(t Target, o Options) *session {
	return &session{target: t, options: o, conns: map[string]*conn{}}
}

func (s *session) report(where, request, format string, args ...any) {
	s.differs = append(s.differs, Difference{where, request, fmt.Sprintf(format, args...)})
}

// conn returns the named connection, opened if there is none.
func (s *session) conn(name string) (*conn, error) {
	if c := s.conns[name]; c != nil {
		return c, nil
	}
	c, err := dialTarget(s.target)
	if err == nil {
		s.conns[name] = c
	}
	return c, err
}

// end ends the named connection and gives the server time to notice: what the
// peer does next must not overtake it. Answers that nobody asked for are
// reported: one-way requests are never answered.
func (s *session) end(name, where string) {
	c := s.conns[name]
	if c == nil {
		return
	}
	if err := c.end(); err != nil {
		s.report(where, "end of connection "+name, "%v", err)
	}
	for _, a := range c.early {
		s.report(where, "end of connection "+name, "an answer that nobody asked for: %s", a)
	}
	delete(s.conns, name)
	s.quiet = time.Now()
	s.pause()
}

// pause lets a server work off what it does after its answer, or after the end
// of a connection.
func (s *session) pause() {
	if s.options.Immediate {
		time.Sleep(10 * time.Millisecond)
	} else {
		time.Sleep(150 * time.Millisecond)
	}
}

func (s *session) endAll() {
	for _, c := range s.conns {
		c.close()
	}
}

// play sends the request on the named connection and compares the answer.
func (s *session) play(name string, e *Exchange) {
	e.Want = s.options.Deviations.want(e)
	deadline := time.Now().Add(settleWait)
	for {
		got, err := s.ask(name, e)
		detail := ""
		if err != nil {
			detail = fmt.Sprintf("want %s, got %v", e.Want, err)
		} else {
			detail = differ(e.masked(e.Want), e.masked(got), e.exact)
		}
		if got != nil && got.Closed || err != nil {
			s.end(name, e.where())
		}
		if detail == "" {
			if e.Code == codeUnregisterBroker && !s.options.Immediate {
				s.pause()
			}
			return
		}
		if !s.maySettle(e) || time.Now().After(deadline) {
			s.report(e.where(), e.String(), "%s", detail)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (s *session) maySettle(e *Exchange) bool {
	return e.settle && (!s.options.Immediate || time.Since(s.quiet) < settleWait)
}

// ask sends the request and returns its answer, nil if there is none.
func (s *session) ask(name string, e *Exchange) (*Answer, error) {
	c, err := s.conn(name)
	if err != nil {
		return nil, err
	}
	if err := c.send(e.frame); err != nil {
		return &Answer{Closed: true}, nil
	}
	switch {
	case e.Want == nil && e.exact: // silence shows in the answers that follow, see end
		s.quiet = time.Now()
		return nil, nil
	case e.Want == nil:
		return c.silent()
	case e.raw:
		return c.next(answerWait)
	}
	return c.answer(e.Opaque)
}

// masked hides what differs from one server to the next in the answer to 319.
func (e *Exchange) masked(a *Answer) *Answer {
	if e.Code != 319 || a == nil {
		return a
	}
	b := *a
	b.Body = localSettings.ReplaceAll(bytes.Clone(a.Body), []byte("$1=any"))
	return &b
}

var localSettings = regexp.MustCompile(`(?m)^(configStorePath|kvConfigPath|listenPort|rocketmqHome)=.*$`)
