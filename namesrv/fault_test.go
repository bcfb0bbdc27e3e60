package namesrv

import (
	"errors"
	"testing"

	"github.com/waymark-mq/waymark/core"
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
