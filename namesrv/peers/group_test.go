package peers

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/verdict"
)

// TestWords: what is told to one is heard by all others, with the sign of life in each's own time: never later than it was.
func TestWords(t *testing.T) {
	f := newFleet(t)
	for range 3 {
		f.add(nil)
	}
	f.meet()
	teller := f.all[1]
	const age = int64(7 * time.Second)
	told := teller.o.Now()
	after := make([]int64, 3) // told, in each's own time, at the latest
	for i, g := range f.all {
		after[i] = g.o.Now()
	}
	teller.Tell([]verdict.Word{aWord("a", told-age), aWord("b", told)})
	for _, i := range []int{0, 2} {
		until(t, "words", func() bool { _, w := f.heard[i].get(); return len(w) == 2 })
		from, words := f.heard[i].get()
		if from[0] != teller.Name() || words[0].BrokerName != "a" || words[1].BrokerName != "b" {
			t.Fatalf("heard %v from %v", words, from)
		}
		if s, least := words[0].Sign, after[i]-age-int64(deadline); s > after[i]-age || s < least {
			t.Errorf("sign of life at %d, must be in [%d, %d]", s, least, after[i]-age)
		}
		if d := words[1].Sign - words[0].Sign; d != age {
			t.Errorf("ages differ by %d, not %d", d, age)
		}
	}
	if _, w := f.heard[1].get(); len(w) != 0 {
		t.Errorf("it heard itself: %v", w)
	}
}

// TestCutAndJoinedAgain: a nameserver that isn't reached is given up, and found again without anybody's doing.
func TestCutAndJoinedAgain(t *testing.T) {
	f := newFleet(t)
	for range 3 {
		f.add(nil)
	}
	f.meet()
	lonely := f.all[2]
	for _, g := range f.all[:2] {
		f.wires.set(lonely.Addr(), g.Addr(), true)
	}
	until(t, "given up", func() bool { return alive(lonely) == 0 && alive(f.all[0]) == 1 && alive(f.all[1]) == 1 })
	f.all[0].Tell([]verdict.Word{aWord("cut", f.all[0].o.Now())})
	until(t, "word for who is there", func() bool { _, w := f.heard[1].get(); return len(w) == 1 })
	for _, g := range f.all[:2] {
		f.wires.set(lonely.Addr(), g.Addr(), false)
	}
	f.meet()
	if _, w := f.heard[2].get(); len(w) != 0 {
		t.Errorf("who was gone has heard %v", w)
	}
}

// TestReached: who sends no beacons isn't reached, long before memberlist gives it up. Who has said that it leaves isn't missed.
func TestReached(t *testing.T) {
	f := newFleet(t)
	a := f.add(nil)
	if known, reached := a.Reached(); known != 0 || reached != 0 {
		t.Errorf("alone: %d of %d", reached, known)
	}
	b, c := f.add(nil), f.add(nil)
	f.meet()
	reaches := func(g *Group, n int) func() bool {
		return func() bool { known, reached := g.Reached(); return known == 2 && reached == n }
	}
	until(t, "all are reached", reaches(a, 2))
	f.wires.deafen(b.Addr(), a.Addr()) // memberlist asks over a connection then
	until(t, "one isn't", reaches(a, 1))
	f.wires.deafen(c.Addr(), a.Addr())
	until(t, "none is", reaches(a, 0))
	until(t, "the others are", reaches(b, 2))
	c.Close()
	until(t, "one has left", func() bool { known, reached := b.Reached(); return known == 1 && reached == 1 })
}

// TestMissed: who is gone without a word is missed for a while.
func TestMissed(t *testing.T) {
	const gone = int64(time.Hour)
	soon, late := gone+int64(missedFor), gone+int64(missedFor)+1
	for name, tt := range map[string]struct {
		peer       peer
		soon, late bool
	}{
		"there":       {peer{alive: true}, true, true},
		"back":        {peer{alive: true, left: true}, true, true},
		"said so":     {peer{left: true}, false, false},
		"without one": {peer{}, true, false},
	} {
		tt.peer.since = gone
		if got, then := tt.peer.missed(soon), tt.peer.missed(late); got != tt.soon || then != tt.late {
			t.Errorf("%s: %v after %v, then %v", name, got, missedFor, then)
		}
	}
}

func alive(g *Group) (n int) {
	for _, m := range g.Members() {
		if m.Alive {
			n++
		}
	}
	return n
}

// TestKeys: only who has a key that is known is heard; a key can be changed with no moment in which some aren't.
func TestKeys(t *testing.T) {
	key := func(b string) []byte { return []byte(strings.Repeat(b, 32)) }
	withKeys := func(keys ...[]byte) func(*Options) { return func(o *Options) { o.Keys = keys } }
	f := newFleet(t)
	first := f.add(withKeys(key("a")))
	f.add(withKeys(key("b"), key("a"))) // speaks b, which the first doesn't know
	f.add(nil)                          // speaks openly
	f.add(withKeys(key("c")))
	f.add(withKeys(key("a"), key("b")))
	until(t, "the one that speaks a", func() bool { return hearing(first) == 1 })
	if m := first.Members(); len(m) != 1 || m[0].Name != f.all[4].Name() {
		t.Errorf("members %v", m)
	}
	until(t, "strangers that are counted", func() bool { return first.Counts().Unreadable > 0 })
	if n := len(f.all[2].Members()) + len(f.all[3].Members()); n != 0 {
		t.Errorf("strangers know %d members", n)
	}
	if _, err := New(Options{Listen: "127.0.0.1:0", Keys: [][]byte{[]byte("short")}, Now: first.o.Now}); err == nil {
		t.Error("a key of 5 bytes is taken")
	}
}

// TestState: what a nameserver says of itself reaches the others when it changes; and who leaves, has left.
func TestState(t *testing.T) {
	f := newFleet(t)
	a := f.add(nil)
	var now atomic.Pointer[Self]
	now.Store(&Self{State: Starting, Remoting: "10.0.0.7:9876", Version: "v9"})
	b := f.add(func(o *Options) { o.Self = func() Self { return *now.Load() } })
	f.meet()
	if m := a.Members()[0]; m.Self != (Self{State: Starting, Remoting: "10.0.0.7:9876", Version: "v9"}) {
		t.Errorf("%+v", m.Self)
	}
	now.Store(&Self{State: Draining, Remoting: strings.Repeat("x", 1000), Admin: strings.Repeat("y", 1000), Version: strings.Repeat("z", 1000)})
	until(t, "draining", func() bool { return a.Members()[0].State == Draining })
	if m := a.Members()[0]; len(m.Remoting) != maxSelfText || len(m.Version) != maxSelfText {
		t.Errorf("%+v", m.Self)
	}
	b.Close()
	until(t, "left", func() bool { m := a.Members()[0]; return !m.Alive && m.Left })
}

// TestWhoLeavesIsNoWarning: a nameserver that is stopped in order is told of, but not warned of.
func TestWhoLeavesIsNoWarning(t *testing.T) {
	f := newFleet(t)
	var log bytes.Buffer // read once a has ended
	a := f.add(func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	b := f.add(nil)
	f.meet()
	b.Close()
	until(t, "left", func() bool { m := a.Members()[0]; return !m.Alive && m.Left })
	a.Close()
	if want := `level=INFO msg="peers: nameserver is gone" peer=` + b.Name() + " left=true"; !strings.Contains(log.String(), want) {
		t.Errorf("no line %q in\n%s", want, log.String())
	}
}

// TestRestart: another process of the same name and address is another run; words of the earlier one don't count for it.
func TestRestart(t *testing.T) {
	f := newFleet(t)
	a := f.add(nil)
	b := f.add(func(o *Options) { o.Name = "b" })
	f.meet()
	p := a.peers["b"]
	run := p.run
	b.Close()
	until(t, "left", func() bool { return alive(a) == 0 })
	c := f.add(func(o *Options) { o.Name, o.Peers = "b", []string{a.Addr()} })
	until(t, "the new one", func() bool { return hearing(a) == 1 && hearing(c) == 1 })
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.peers["b"].run == run || a.peers["b"].run != c.run {
		t.Error("the run is the earlier process's")
	}
}

// TestPortTaken: an address that is taken is an error that names it, and nothing is left behind.
func TestPortTaken(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	_, err = New(Options{Listen: ln.Addr().String(), Logger: slog.New(slog.DiscardHandler), Now: func() int64 { return 0 }})
	if err == nil || !strings.Contains(err.Error(), ln.Addr().String()) || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
}

// TestClose: nothing goes on behind Close, also when nobody was ever reached.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	g, err := New(Options{
		Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler), Now: func() int64 { return 1 }, quick: quick,
		Peers:   []string{"127.0.0.1:1", "nowhere.invalid"},
		resolve: func(ctx context.Context, _ string) ([]net.IP, error) { <-ctx.Done(); return nil, ctx.Err() },
	})
	if err != nil {
		t.Fatal(err)
	}
	g.Close()
	until(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before })
}

// TestNobody: a nameserver alone takes words and asks without waiting or failing.
func TestNobody(t *testing.T) {
	g := newFleet(t).add(nil)
	g.Tell([]verdict.Word{aWord("a", 0)})
	if _, _, err := g.List(context.Background(), "nobody", Query{What: Brokers}); !errors.Is(err, ErrNoPeer) {
		t.Errorf("error %v", err)
	}
	if len(g.Members()) != 0 {
		t.Error("somebody is there")
	}
}
