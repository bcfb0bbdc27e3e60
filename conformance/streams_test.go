package conformance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/netpoll"
)

// TCP is a stream: where a read ends says nothing about frames. These tests cut
// what recorded peers sent at all kinds of places and want the answers that the
// uncut frames get.

// talk is a connection to a server, over TCP (conn) or in memory (memory).
type talk interface {
	send(b []byte) error
	answer(opaque int32) (*Answer, error)
}

// memory is a connection without a socket: every send is one read event of our
// event loop's code.
type memory struct {
	pipe  *netpoll.Pipe
	in    []byte // answers, the last one perhaps not whole
	early map[int32]*Answer
}

func newMemory(o *ours) *memory {
	return &memory{pipe: netpoll.NewPipe(o.NewLoop(), netpoll.Options{Now: o.clock.Now}), early: map[int32]*Answer{}}
}

func (m *memory) send(b []byte) error { return m.take(m.pipe.Feed(b)) }

func (m *memory) take(b []byte, closed error) error {
	m.in = append(m.in, b...)
	for len(m.in) >= 4 {
		f, err := readFrame(strings.NewReader(string(m.in)))
		if err != nil {
			break
		}
		m.in = m.in[len(f):]
		a, err := parseAnswer(f)
		if err != nil {
			return err
		}
		if m.early[a.Opaque] != nil {
			return fmt.Errorf("two answers to %d", a.Opaque)
		}
		m.early[a.Opaque] = a
	}
	return closed
}

// answer waits for an answer that may come from the writer's goroutine.
func (m *memory) answer(opaque int32) (*Answer, error) {
	for end := time.Now().Add(answerWait); ; time.Sleep(20 * time.Microsecond) {
		if a := m.early[opaque]; a != nil {
			delete(m.early, opaque)
			return a, nil
		}
		if err := m.take(m.pipe.Tick()); err != nil {
			return nil, err
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf("no answer to %d", opaque)
		}
	}
}

func startOur(t *testing.T, config map[string]string) *ours {
	t.Helper()
	target, err := startOurs(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	return target.(*ours)
}

func TestConversationsCut(t *testing.T) {
	for _, name := range captureNames(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, c := range conversations(t, name) {
				whole, err := c.converse(newMemory(startOur(t, c.config)), frameEnds(c))
				if err != nil {
					t.Fatal(err)
				}
				for way, cuts := range map[string][]int{
					"100 cuts":  seededCuts(uint64(i), 100, c.size()),
					"one write": nil,
				} {
					got, err := c.converse(newMemory(startOur(t, c.config)), cuts)
					if err != nil {
						t.Fatalf("%s, %s: %v", c.name, way, err)
					}
					for _, d := range c.differences(whole, got, c.races(cuts)) {
						t.Errorf("%s, %s: %s", c.name, way, d)
					}
				}
			}
		})
	}
}

func TestCutsOverTCP(t *testing.T) {
	const cutsInAll = 1000
	var all []*conversation
	size := 0
	for _, name := range captureNames(t) {
		for _, c := range conversations(t, name) {
			all = append(all, c)
			size += c.size()
		}
	}
	done := 0
	for i, c := range all {
		n := (cutsInAll*c.size() + size - 1) / size
		cuts := seededCuts(uint64(i)+1000, n, c.size())
		done += len(cuts)
		want := converseOverTCP(t, c, frameEnds(c))
		got := converseOverTCP(t, c, cuts)
		for _, d := range c.differences(want, got, c.races(cuts)) {
			t.Errorf("%s: %s", c.name, d)
		}
	}
	if done < cutsInAll {
		t.Errorf("%d cuts, want %d", done, cutsInAll)
	}
}

func converseOverTCP(t *testing.T, c *conversation, cuts []int) []*Answer {
	t.Helper()
	o := startOur(t, c.config)
	to, err := dial(o.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer to.close()
	answers, err := c.converse(to, cuts)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return answers
}

// TestFirstBytesOverTCP cuts inside the bytes by which the server tells frames
// from a PROXY header or TLS.
func TestFirstBytesOverTCP(t *testing.T) {
	o := startOur(t, nil)
	query := &Step{Code: codeGetRoute, Version: 513, Ext: map[string]string{"topic": "NoSuchTopic"}}
	frame, err := query.frame(1)
	if err != nil {
		t.Fatal(err)
	}
	for cut := 1; cut <= 16; cut++ {
		c, err := dial(o.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.send(frame[:cut]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond) // so that the server reads the first piece alone
		if err := c.send(frame[cut:]); err != nil {
			t.Fatal(err)
		}
		if a, err := c.answer(1); err != nil || a.Code != 17 {
			t.Errorf("cut at %d: %s (%v)", cut, a, err)
		}
		c.close()
	}
}
