package namesrv

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/netpoll"
)

// While the server waits for brokers after its start, route queries are held back,
// since "no such topic" would be taken for a fact. Nothing else is.
func TestNeedWaitForService(t *testing.T) {
	s := start(t, waiting(true, 5))
	c := s.dial()
	const notReady = `1 "name server not ready"`
	s.advance(time.Second)
	c.register(broker("a"))
	c.want(routeOf("Base"), notReady)
	c.want(routeOf("None"), notReady)
	c.want(routeOf("Base").from(317), notReady)
	c.want(ask(105), notReady)
	c.send(routeOf("Base").oneway())
	c.want(broker("a").heartbeat(), "0")
	c.wantCode(ask(106), 0)
	c.want(ask(206), `0 {"topicList":["Base","Pad"]}`)
	c.wantPrefix(ask(901, "brokerName", "a"), `0 "not set any response code" {"brokerMemberGroup":{"brokerAddrs":{0:"a:10911"}`)
	s.advance(4*time.Second - 1)
	c.want(routeOf("Base"), notReady)
	s.advance(1)
	c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	c.wantRoute("None", "none")
	if len(c.early) > 0 {
		t.Errorf("a one-way query was answered: %v", c.early)
	}
}

// While the server runs, its wait can be ended or shortened from outside, but neither begun nor lengthened: one request would take a
// server that serves out of service for a day.
func TestServiceCannotBeTakenBack(t *testing.T) {
	const notReady, day = `1 "name server not ready"`, "needWaitForService=true\nwaitSecondsForService=86400"
	s := start(t)
	c := s.dial()
	c.register(broker("a"))
	c.want(configure(day), "0")
	c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	if s.State() != Serving {
		t.Errorf("the server is %v", s.State())
	}
	s = start(t, waiting(true, 45))
	c = s.dial()
	c.register(broker("a"))
	for _, step := range []struct {
		body  string
		ready bool
	}{{day, false}, {"needWaitForService=false", true}, {"needWaitForService=true", false}, {"waitSecondsForService=0", true}, {day, false}} {
		c.want(configure(step.body), "0")
		if got := c.call(routeOf("Base")).String() != notReady; got != step.ready {
			t.Errorf("after %q ready: %v", step.body, got)
		}
	}
	s.advance(45 * time.Second)
	c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
}

// Off, as by default, an empty server says that a topic does not exist.
func TestNoNeedToWait(t *testing.T) {
	start(t).dial().wantRoute("Base", "none")
}

// A server that drains or stops says of no topic that it doesn't exist: another one may know it. What it knows it tells, a group's
// members too.
func TestLeavingServerDeniesNoTopic(t *testing.T) {
	for _, state := range []State{Draining, Stopping} {
		t.Run(state.String(), func(t *testing.T) {
			s := start(t)
			c := s.dial()
			c.register(broker("a"))
			c.wantRoute("None", "none")
			s.moveTo(state)
			c.want(routeOf("None"), `1 "name server not ready"`)
			c.want(ask(105), `1 "name server not ready"`)
			c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
			c.wantPrefix(ask(901, "brokerName", "a"), `0 "not set any response code" {"brokerMemberGroup":{"brokerAddrs":{0:"a:10911"}`)
			c.register(broker("b"))
		})
	}
}

// With notReadyWithoutBrokers a nameserver that its brokers have left doesn't deny their topics.
func TestNotReadyWithoutBrokers(t *testing.T) {
	s := start(t, func(c *settings.Settings) { c.NotReadyWithoutBrokers = true })
	c := s.dial()
	want := func(none string, state State) {
		t.Helper()
		if c.want(routeOf("None"), none); s.State() != state {
			t.Errorf("%v, want %v", s.State(), state)
		}
	}
	const notReady = `1 "name server not ready"`
	want(notReady, Waiting)
	c.register(broker("a"))
	want(fmt.Sprintf("17 %q", remarkNoTopic+"None"+remarkNoTopicHelp), Serving)
	c.want(broker("a").unregister(), "0")
	want(notReady, Waiting)
	c.want(configure("notReadyWithoutBrokers=false"), "0")
	want(fmt.Sprintf("17 %q", remarkNoTopic+"None"+remarkNoTopicHelp), Serving)
}

// Peers newer than V5_3_1 (475) understand that they are to go; all others are served.
func TestGoAway(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.register(broker("a"))
	s.goingAway.Store(true)
	const goAway = `1500 "please go away"`
	for _, version := range []int32{476, 477, 513, 9999} {
		for _, r := range []request{routeOf("Base"), ask(106), ask(9999), broker("b").request(), broker("a").heartbeat(), put("n", "k", "v"), broker("a").unregister()} {
			c.want(r.from(version), goAway)
		}
		c.send(broker("b").request().from(version).oneway())
	}
	for _, version := range []int32{475, 401, 317, 0} {
		c.wantCode(routeOf("Base").from(version), 0)
		c.wantCode(from(broker("a").again(), version).request(), 0)
		c.wantCode(routeOf("None").from(version), 17)
	}
	s.dial().want(ask(106), goAway) // on new connections too
	if n := s.table.Load().Brokers(); n != 1 || len(c.early) > 0 {
		t.Errorf("%d brokers, early answers %v: a request that was told to go was processed", n, c.early)
	}
}

func TestShutdownGracefully(t *testing.T) {
	s := start(t, func(c *settings.Settings) { c.EnableShutdownGracefully, c.ShutdownWaitTimeSeconds = true, 1 })
	c := s.dial()
	c.register(broker("a"))
	var stopErr error
	done := make(chan struct{})
	go func() {
		stopErr = s.Stop(context.Background())
		close(done)
	}()
	eventually(t, "the server to say go away", s.goingAway.Load)
	c.want(routeOf("Base"), `1500 "please go away"`)
	if a := c.call(routeOf("Base").from(475)); a.code != 0 {
		t.Errorf("older peer: %s", a)
	}
	c.wantClosed()
	if s.await(done, "the stop"); stopErr != nil {
		t.Error(stopErr)
	}
}

// The caller's context ends the wait.
func TestShutdownGracefullyCutShort(t *testing.T) {
	s := start(t, func(c *settings.Settings) { c.EnableShutdownGracefully = true }) // for 30 s
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		_ = s.Stop(ctx) // may be the context's error
		close(done)
	}()
	eventually(t, "the server to say go away", s.goingAway.Load)
	cancel()
	s.await(done, "the stop")
}

// Over the budget of queued writes a 103 is refused once it has counted as a sign of
// life, and so is a 322 that would have to wait; a 104 never is.
func TestWriteBudget(t *testing.T) {
	home := t.TempDir()
	s := newTestServer(t, home, Options{Settings: settings.Default(settings.Env{HomeDir: home})})
	s.maxWriteBytes = 32 << 10
	s.mustStart()
	c, full := s.dial(), s.dial()
	c.register(broker("a"), broker("b"))
	release := s.parkWriter()
	const n = 80
	wipes := full.send(slices.Repeat([]request{ask(205, "brokerName", "nobody")}, n)...)
	eventually(t, "the budget is used up", func() bool { return s.writeBytes.Load() > s.maxWriteBytes })

	s.clock.now.Add(int64(3 * time.Second))
	const busy = `2 "[OVERLOAD]system busy, start flow control for a while"`
	c.want(broker("a").counter(2).request(), busy)
	live, _ := s.live(cluster, "a:10911")
	if last, _ := live.Cell.Last(); last != s.clock.Now() {
		t.Error("the refused registration is no sign of life")
	}
	c.want(broker("new").request(), busy)
	for _, r := range []request{put("n", "k", "v"), del("n", "k"), configure("enableTopicList=false"),
		ask(205, "brokerName", "a"), ask(327, "brokerName", "a"), ask(216, "topic", "Base"), ask(217, "topic", "Base")} {
		c.want(r, busy)
	}
	c.send(broker("new").request().oneway())
	c.want(broker("a").again().request(), "0 {}") // recognised: needs no budget
	c.wantRoute("Base", "a{0=a:10911} 4/4/6/0; b{0=b:10911} 4/4/6/0")
	c.want(broker("a").heartbeat(), "0")
	unregistered := c.send(broker("b").unregister())
	c.want(broker("a").query(), busy) // would wait behind the 104

	release()
	answers := map[string]int{}
	for i := range int32(n) {
		answers[full.wait(wipes-i).String()]++
	}
	if answers["0 {wipeTopicCount=0}"] == 0 || answers[busy] == 0 || len(answers) != 2 {
		t.Errorf("answers %v, want done ones and refused ones", answers)
	}
	if got := c.wait(unregistered).String(); got != "0" {
		t.Errorf("104 over the budget: %s", got)
	}
	c.wantRoute("Pad", "a{0=a:10911} 4/4/6/0")
	c.want(broker("a").counter(2).request(), "0 {}")
	if len(c.early) > 0 {
		t.Errorf("a one-way registration was answered: %v", c.early)
	}
}

// What a body holds once it is decoded counts as well.
func TestWriteBudgetOfDecodedBodies(t *testing.T) {
	home := t.TempDir()
	s := newTestServer(t, home, Options{Settings: settings.Default(settings.Env{HomeDir: home})})
	s.maxWriteBytes = 32 << 10
	s.mustStart()
	c := s.dial()
	const busy = `2 "[OVERLOAD]system busy, start flow control for a while"`
	c.want(broker("a").having(many(1000, 4)...).request(), busy)
	eventually(t, "nothing counts as queued", func() bool { return s.writeBytes.Load() == 0 })
	c.want(broker("a").request(), "0 {}")
}

// A connection that makes too many requests wait is paused, requests that no budget
// refuses included; others are served, and it goes on later.
func TestTooManyPendingPauseTheirConnection(t *testing.T) {
	s := start(t)
	p := s.pipe()
	session := p.Conn().Context.(*session)
	release := s.parkWriter()
	var frames []byte
	for range maxPending + 100 {
		frames = append(frames, broker("nobody").unregister().oneway().frame(0)...)
	}
	frames = append(frames, broker("a").request().frame(1)...)
	frames = append(frames, routeOf("None").frame(2)...)
	answers, _ := p.Feed(frames)
	if n := session.pending.Load(); n != maxPending || len(answers) > 0 {
		t.Errorf("%d requests wait, %d bytes answered; want %d and none", n, len(answers), maxPending)
	}
	s.dial().wantRoute("None", "none")
	release()
	var got []string
	var taken []byte
	eventually(t, "the rest", func() bool {
		more, _ := p.Feed(nil)
		taken = append(taken, more...)
		r := bytes.NewReader(taken)
		got = nil
		for a, err := readAnswer(r); err == nil; a, err = readAnswer(r) {
			got = append(got, fmt.Sprint(a.opaque, ": ", a.code))
		}
		return len(got) == 2
	})
	slices.Sort(got)
	if want := []string{"1: 0", "2: 17"}; !slices.Equal(got, want) {
		t.Errorf("answers %v, want %v", got, want)
	}
}

// With too much unsent on their loop, lists are refused at once, and everything to those who owe it; who takes its answers
// is served, broker control in any case.
func TestOutputBudget(t *testing.T) {
	s := start(t, func(c *settings.Settings) {
		c.EventLoops, c.OutputBudgetBytes, c.ServerSocketSndBufSize = 1, 1<<20, 4096
	})
	c := s.dial()
	c.register(broker("a").having(append(many(20_000, 4), named("Base", "Pad")...)...))
	const busy = `2 "[OVERLOAD]system busy, start flow control for a while"`
	eventually(t, "lists are refused", func() bool {
		if c.call(ask(206)).String() == busy {
			return true
		}
		// One more that doesn't read: what is unsent may have been over the budget, and under it again when the kernel took a little.
		deaf := s.dial()
		_ = deaf.conn.(*net.TCPConn).SetReadBuffer(4096)
		deaf.send(ask(codec.RequestGetAllTopicListFromNameserver), ask(codec.RequestGetAllTopicListFromNameserver))
		return false
	})
	c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	c.wantCode(ask(106), 0)
	c.wantCode(ask(319), 0)
	c.send(routeOf("Base").oneway())
	c.want(broker("a").heartbeat(), "0")
	c.wantCode(broker("b").request(), 0)
	c.want(broker("b").unregister(), "0")
	if len(c.early) > 0 {
		t.Errorf("a one-way query was answered: %v", c.early)
	}
}

// Over the budget, who owes answers gets code 2 for queries until they are taken.
func TestOutputBudgetOfWhoOwes(t *testing.T) {
	s := start(t)
	s.dial().register(broker("a"))
	p := netpoll.NewPipe(s.NewLoop(), netpoll.Options{Now: s.clock.Now, Logger: s.logger, MaxUnsentBytes: 100})
	var got []string
	feed := func(r request) {
		answers, err := p.Feed(r.frame(1))
		if err != nil {
			t.Fatal(err)
		}
		for b := bytes.NewReader(answers); b.Len() > 0; {
			a, err := readAnswer(b)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprint(a.code))
		}
	}
	feed(routeOf("Base"))
	p.SetWindow(0)
	for range 2 {
		feed(routeOf("Base"))
		feed(ask(codec.RequestGetBrokerClusterInfo))
		feed(broker("a").heartbeat())
	}
	p.SetWindow(-1)
	feed(routeOf("Base"))
	feed(ask(codec.RequestGetBrokerClusterInfo))
	if want := "0 0 2 0 2 2 0 0 0"; strings.Join(got, " ") != want {
		t.Errorf("answers of codes %v, want %s", got, want)
	}
}
