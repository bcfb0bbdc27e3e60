package namesrv

import (
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/audit"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// A fault of ours in one request ends its connection, no other, and leaves nothing counted.
func TestFaultInDecoder(t *testing.T) {
	s := start(t)
	p := s.pipe()
	session := p.Conn().Context.(*session)
	s.enqueue(session, write{frame: copyFrame([]byte("no frame"))}) // the loop lets none such through
	eventually(t, "the request is given up", func() bool { return session.pending.Load() == 0 })
	if _, err := p.Feed(nil); !errors.Is(err, errPanic) {
		t.Errorf("connection's end: %v, want %v", err, errPanic)
	}
	eventually(t, "nothing counts as queued", func() bool { return s.writeBytes.Load() == 0 })
	if got := len(s.logged("its connection ends")); got != 1 {
		t.Errorf("%d lines, want 1", got)
	}
	s.dial().wantCode(broker("a").request(), 0)
}

// wantFaultEnds waits until a request that was given to push ran into a fault: its connection ends, nothing of it counts as queued, and the server
// goes on.
func (s *testServer) wantFaultEnds(push func(sess *session)) {
	s.t.Helper()
	p := s.pipe()
	sess := p.Conn().Context.(*session)
	before := s.metrics().Panics
	sess.hold()
	s.writeBytes.Add(requestOverhead)
	push(sess)
	eventually(s.t, "the request is given up", func() bool { return sess.pending.Load() == 0 })
	if _, err := p.Feed(nil); !errors.Is(err, errPanic) {
		s.t.Errorf("connection's end: %v, want %v", err, errPanic)
	}
	eventually(s.t, "nothing counts as queued", func() bool { return s.writeBytes.Load() == 0 })
	if got := s.metrics().Panics - before; got != 1 {
		s.t.Errorf("%d faults counted, want 1", got)
	}
	c := s.dial()
	c.register(broker("a"))
	c.want(put("n", "k", "v"), "0")
}

// A fault of ours in what the writer does for one request after its step ends that connection, no other.
func TestFaultInWriter(t *testing.T) {
	for name, c := range map[string]change{
		"answer": {command: nothing, answer: func([]byte, *core.Result, *core.Snapshot) []byte { panic("answer") }},
		"then":   {command: nothing, then: func() { panic("then") }},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.wantFaultEnds(func(sess *session) {
				c.session, c.bytes = sess, requestOverhead
				s.pass(c, s.clock.Now())
			})
			if got := s.logged("its connection ends"); len(got) != 1 || !strings.Contains(got[0], "panic="+name) || !strings.Contains(got[0], "fault_test.go") {
				t.Errorf("%q", got)
			}
		})
	}
}

// A fault in telling what was done, or in what a step leaves to do, leaves the request its answer.
func TestFaultAfterTheStep(t *testing.T) {
	s := start(t)
	p := s.pipe()
	sess := p.Conn().Context.(*session)
	sess.hold()
	answered := make(chan struct{})
	s.pass(change{ // its event is to be told with a deed that isn't whole
		command: &core.PutKV{Namespace: "n", Key: "k", Value: codec.NullString{S: "v", Valid: true}}, session: sess, deed: &deed{Record: audit.Record{Code: codec.RequestPutKVConfig}, changed: true},
		then: func() { close(answered) },
	}, s.clock.Now())
	<-answered
	s.barrier()
	if got := s.logged("fault while a change was told"); len(got) != 1 || s.metrics().Panics != 1 {
		t.Errorf("%d faults, %q", s.metrics().Panics, got)
	}
	if _, err := p.Feed(nil); err != nil {
		t.Errorf("the connection ended: %v", err)
	}
	s.perform((*core.Event)(nil))
	s.dial().want(get("n", "k"), `0 {value=v}`)
}

// A fault of ours in one request for the files ends that connection; the others of its batch are served, and what it was to change is as it was.
func TestFaultInPersister(t *testing.T) {
	for name, bad := range map[string]durable{
		"KV":       {command: &core.PutKV{Namespace: "n", Key: "bad", Value: codec.NullString{S: "v", Valid: true}}}, // no deed
		"settings": {body: []byte("orderConfStrict=true\n")},                                                         // likewise
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.wantFaultEnds(func(sess *session) {
				bad.session, bad.bytes = sess, requestOverhead
				good := durable{command: &core.PutKV{Namespace: "n", Key: "good", Value: codec.NullString{S: "v", Valid: true}}, deed: &deed{}, asked: asked{oneway: true}}
				s.durables.mu.Lock() // so that they come together
				s.durables.items = append(s.durables.items, good, bad)
				s.durables.mu.Unlock()
				good.command = &core.PutKV{Namespace: "n", Key: "last", Value: codec.NullString{S: "v", Valid: true}}
				s.durables.push(good)
			})
			c := s.dial()
			c.want(get("n", "good"), `0 {value=v}`)
			c.want(get("n", "last"), `0 {value=v}`)
			c.wantCode(get("n", "bad"), 22)
		})
	}
}

// A fault in writing the KV file is a file that can't be written: code 1, and nothing has changed.
func TestFaultInSavingKV(t *testing.T) {
	home := t.TempDir()
	s := newTestServer(t, home, Options{Settings: settings.Default(settings.Env{HomeDir: home})})
	s.kvFile = nil
	s.mustStart()
	c := s.dial()
	for range 2 {
		c.wantPrefix(put("n", "k", "v"), `1 "KV configuration can't be written`)
		c.wantCode(get("n", "k"), 22)
	}
	c.want(configure("orderConfStrict=true"), "0")
	if got := s.metrics().Panics; got != 2 {
		t.Errorf("%d faults counted", got)
	}
}

// After a fault in a step of the table the writer doesn't go on: a table that may be half changed serves nobody another change. What is said names
// the command and its sender.
func TestFaultInStepIsFatal(t *testing.T) {
	home := t.TempDir()
	told := make(chan error, 1)
	s := newTestServer(t, home, Options{Settings: settings.Default(settings.Env{HomeDir: home}), Fatal: func(err error) {
		told <- err
		runtime.Goexit()
	}})
	s.mustStart()
	s.dial().register(broker("a"))
	sess := s.pipe().Conn().Context.(*session)
	s.pass(change{command: (*core.UnregisterBroker)(nil), session: sess}, s.clock.Now())
	select {
	case err := <-told:
		if !strings.HasPrefix(err.Error(), "namesrv: fault in a step of the table: ") {
			t.Error(err)
		}
	case <-time.After(waitLimit):
		t.Fatal("nobody is told")
	}
	<-s.writerDone
	s.dial().wantRoute("Base", "a{0=a:10911} 4/4/6/0") // queries are answered until the process ends
	got := s.logs.with("fault in a step of the table")
	if len(got) != 1 || !strings.Contains(got[0], "command=*core.UnregisterBroker") || !strings.Contains(got[0], "peer="+sess.conn.RemoteAddr()) || !strings.Contains(got[0], "apply_remove.go") {
		t.Errorf("%q", got)
	}
}

// A connection remembers the brokers that beat on it, but not those that are gone or
// have moved on for ever.
func TestTouchedIsBounded(t *testing.T) {
	s := start(t)
	sess := s.pipe().Conn().Context.(*session)
	other := sess.id() + 1
	var mine []*core.LiveCell
	for i := range int64(10_000) {
		cell := &core.LiveCell{}
		cell.Touch(sess.id(), i)
		sess.took(cell)
		if i%100 == 0 {
			mine = append(mine, cell)
		} else {
			cell.Touch(other, i)
		}
	}
	if n := len(sess.touched); n > 4*len(mine) {
		t.Errorf("%d brokers remembered, of which the connection owns %d", n, len(mine))
	}
	for i, cell := range mine {
		if _, ok := sess.touched[cell]; !ok {
			t.Errorf("broker %d is owned and forgotten", i)
		}
	}
}
