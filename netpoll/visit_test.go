package netpoll

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"
)

// finishing is an echo that notes when a read event was over.
type finishing struct {
	*echoLoop
	finished func()
}

func (f finishing) Finished() { f.finished() }

// Finished comes once for each read event with a whole frame, after its answers have left.
func TestFinishedFollowsTheWrite(t *testing.T) {
	var p *Pipe
	var writes []int // made when Finished was called
	h := finishing{newEcho().NewLoop().(*echoLoop), func() { writes = append(writes, p.Writes()) }}
	p = NewPipe(h, Options{})
	frame := frameOf("a frame")
	for i, read := range [][]byte{frame, bytes.Repeat(frame, 32), frame[:7], frame[7:], bytes.Repeat(bigFrame(60*kib), 8)} {
		before := len(writes)
		mustFeed(t, p, read)
		switch {
		case len(read) < len(frame) && i == 2:
			if len(writes) != before {
				t.Error("half a frame finished an event")
			}
		case len(writes) != before+1 || writes[before] != p.Writes():
			t.Errorf("read %d: %d calls, after %v of %d writes", i, len(writes)-before, writes[before:], p.Writes())
		}
	}
}

// Visit says which loops came, doesn't wait for the others, and runs for all once they have ended.
func TestVisit(t *testing.T) {
	s := startServer(t, newEcho(), Options{Addr: "127.0.0.1:0", EventLoops: 3})
	held, released := make(chan struct{}), make(chan struct{})
	defer close(released)
	go func() {
		_, _ = s.Visit(context.Background(), func(i int, h LoopHandler) {
			if i == 1 {
				close(held)
				<-released
			}
		})
	}()
	<-held
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	visited, err := s.Visit(ctx, func(int, LoopHandler) {})
	if !errors.Is(err, context.DeadlineExceeded) || len(visited) != 3 || !visited[0] || visited[1] || !visited[2] {
		t.Errorf("%v, %v", visited, err)
	}
	st, err := s.Stats(ctx)
	if err == nil || st.Missing == 0 {
		t.Errorf("%d missing, %v", st.Missing, err)
	}
}
