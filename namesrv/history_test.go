package namesrv

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

func anyEvent(*Event) bool { return true }

// eventLines writes events as kind broker topic key.
func eventLines(events []*Event) (lines []string) {
	for _, e := range events {
		lines = append(lines, strings.Join(strings.Fields(strings.Join([]string{e.Kind, e.Broker, e.Topic, e.Namespace, e.Key, e.Other}, " ")), " "))
	}
	return lines
}

// A reader that goes on where it left off sees every event once, and learns how many it has missed.
func TestFollowingEvents(t *testing.T) {
	s := &Server{history: newHistory(time.Now)}
	s.history.events = newRing[Event](10)
	add := func(n int) {
		for range n {
			s.history.record(&core.Event{Kind: core.EventRegistered}, "")
		}
	}
	want := func(after uint64, limit int, what string) {
		t.Helper()
		p := s.Events(after, limit, anyEvent)
		var seqs []uint64
		for _, e := range p.Events {
			seqs = append(seqs, e.Seq)
		}
		got := fmt.Sprintf("%v of %d–%d, next %d, missed %d, restarted %v", seqs, p.Oldest, p.Newest, p.Next, p.Missed, p.Restarted)
		if got != what {
			t.Errorf("behind %d, %d events\n got %s\nwant %s", after, limit, got, what)
		}
	}
	want(0, 5, "[] of 1–0, next 0, missed 0, restarted false")
	add(4)
	want(0, 3, "[1 2 3] of 1–4, next 3, missed 0, restarted false")
	want(3, 3, "[4] of 1–4, next 4, missed 0, restarted false")
	want(4, 3, "[] of 1–4, next 4, missed 0, restarted false")
	add(6)
	want(0, 2, "[1 2] of 1–10, next 2, missed 0, restarted false")
	add(1)
	want(1, 2, "[2 3] of 2–11, next 3, missed 0, restarted false")
	want(0, 2, "[2 3] of 2–11, next 3, missed 1, restarted false")
	add(14)
	want(3, 2, "[16 17] of 16–25, next 17, missed 12, restarted false")
	want(900, 2, "[16 17] of 16–25, next 17, missed 15, restarted true")
	p := s.Events(0, 100, func(e *Event) bool { return e.Seq == 20 })
	if len(p.Events) != 1 || p.Next != 25 {
		t.Errorf("filtered: %d events, next %d", len(p.Events), p.Next)
	}
	var latest []uint64
	for e := range s.LatestEvents() {
		latest = append(latest, e.Seq)
	}
	if !slices.Equal(latest, []uint64{25, 24, 23, 22, 21, 20, 19, 18, 17, 16}) {
		t.Errorf("newest first: %v", latest)
	}
}

// Readers never see half an event, one twice or one out of order while the writer goes on over them.
func TestReadingEventsWhileTheyAreWritten(t *testing.T) {
	s := &Server{history: newHistory(time.Now)}
	s.history.events = newRing[Event](64)
	const all = 50_000
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			var seen, missed, next uint64
			for next < all {
				p := s.Events(next, 7, anyEvent)
				for _, e := range p.Events {
					if e.Seq <= next || e.Broker != fmt.Sprint(e.Seq) {
						t.Errorf("event %d of broker %s behind %d", e.Seq, e.Broker, next)
						return
					}
					next = e.Seq
				}
				seen, missed, next = seen+uint64(len(p.Events)), missed+p.Missed, p.Next
			}
			if seen+missed != all {
				t.Errorf("%d seen and %d missed of %d", seen, missed, all)
			}
		})
	}
	for i := range uint64(all) {
		s.history.record(&core.Event{Kind: core.EventRegistered, BrokerName: fmt.Sprint(i + 1)}, "")
	}
	readers.Wait()
}

// What a peer sends is cut to what an event may hold, between two characters.
func TestEventTextsAreBounded(t *testing.T) {
	long := strings.Repeat("ä", 1<<16)
	s := &Server{history: newHistory(time.Now)}
	s.history.record(&core.Event{
		Kind: core.EventTopicDeleted, ClusterName: long, BrokerName: long, BrokerAddr: long, Other: long, Topic: long, Namespace: long,
		Key: long, Gone: []string{long},
	}, long)
	s.history.recordSetting(settings.Change{Key: long, Old: long, New: long}, core.Peer{Addr: long})
	for _, e := range s.Events(0, 10, anyEvent).Events {
		for _, text := range []string{e.Cluster, e.Broker, e.Addr, e.Peer, e.Other, e.Topic, e.Namespace, e.Key, e.Detail} {
			if len(text) > maxEventText || strings.ContainsRune(text, '\uFFFD') {
				t.Errorf("%d bytes: %q", len(text), text)
			}
		}
	}
	if n := unsafe.Sizeof(numbered[Event]{}); n > 256 {
		t.Errorf("an event is %d bytes without its texts; DESIGN.md counts 256", n)
	}
	if !s.TopicGone(long).Found {
		t.Error("a topic with a long name is not found again")
	}
}

// The topics of a lost broker lead to the event, as long as not too many went after them.
func TestTopicGone(t *testing.T) {
	s := &Server{history: newHistory(time.Now)}
	s.history.gone = newRing[goneTopic](4)
	gone := func(broker string, topics ...string) {
		s.history.record(&core.Event{Kind: core.EventExpired, BrokerName: broker, Gone: topics}, "")
	}
	want := func(topic, broker string) {
		t.Helper()
		g := s.TopicGone(topic)
		if g.Found != (broker != "") || g.Found && g.Event.Broker != broker {
			t.Errorf("%s: %+v; want %q", topic, g, broker)
		}
	}
	want("A", "")
	if !s.TopicGone("A").Complete {
		t.Error("nothing has gone, and not all of it is remembered")
	}
	gone("a", "A", "B")
	gone("b", "B", "C")
	want("A", "a")
	want("B", "b") // the last time
	gone("c", "D", "E", "F")
	want("A", "")
	if s.TopicGone("A").Complete {
		t.Error("a topic is forgotten, and all are remembered")
	}
	want("C", "b")
	want("F", "c")
	gone("d", "1", "2", "3", "4", "5", "6")
	want("2", "")
	want("3", "d")
	want("6", "d")
}

// Every kind of thing that happens is an event, with who did it; registering the same again is none.
func TestEventsOfAServer(t *testing.T) {
	s := start(t)
	c, tool := s.dial(), s.dial()
	a := broker("a")
	c.register(a)
	c.register(a.again())
	c.register(a.counter(2).having(named("Base", "Pad", "New")...))
	c.call(broker("b").having(named("Base")...).request())
	c.register(a.set("brokerAddr", "y:1").state(7))
	c.register(a) // lost
	c.register(broker("renamed").set("brokerAddr", "y:1"))
	tool.want(ask(codec.RequestRegisterTopicInNamesrv, "topic", "P").with(`{"queueDatas":[{"brokerName":"renamed","perm":6,"readQueueNums":4,"writeQueueNums":4}]}`), "0")
	tool.want(ask(codec.RequestDeleteTopicInNamesrv, "topic", "P"), "0")
	tool.want(ask(codec.RequestDeleteTopicInNamesrv, "topic", "P"), "0")
	tool.wantCode(ask(codec.RequestWipeWritePermOfBroker, "brokerName", "renamed"), 0)
	tool.wantCode(ask(codec.RequestAddWritePermOfBroker, "brokerName", "renamed"), 0)
	tool.want(put("n", "k", "v"), "0")
	tool.want(del("n", "k"), "0")
	tool.want(configure("enableTopicList=false"), "0")
	tool.want(broker("renamed").set("brokerAddr", "y:1").unregister(), "0")
	other := s.dial()
	other.register(broker("short").set("heartbeatTimeoutMillis", "1"), broker("ends"))
	s.advance(6 * time.Second)
	other.wantClosed() // with short's silence, so ends goes too
	eventually(t, "the end of the connection", func() bool { return s.table.Load().Brokers() == 0 })
	s.freeze(time.Minute)
	want := []string{
		"registered a", "changed a", "refused b", "replaced a a:10911", "registered a", "conflict a y:1", "moved renamed a", "registered renamed",
		"topic_registered P", "topic_deleted P", "write_permission_wiped renamed", "write_permission_added renamed", "kv_put n k", "kv_deleted n k",
		"config_changed enableTopicList", "unregistered renamed", "timeout_clamped short", "registered short", "registered ends", "expired short",
		"closed ends", "deadlines_shifted",
	}
	events := s.Events(0, 100, anyEvent).Events
	if got := eventLines(events); !slices.Equal(got, want) {
		t.Errorf("events\n got %q\nwant %q", got, want)
	}
	for _, e := range events {
		var peer string
		switch e.Kind {
		case "deadlines_shifted":
		case "topic_registered", "topic_deleted", "write_permission_wiped", "write_permission_added", "kv_put", "kv_deleted", "config_changed":
			peer = tool.conn.LocalAddr().String()
		case "unregistered":
			peer = tool.conn.LocalAddr().String()
		case "timeout_clamped", "expired", "closed":
			peer = other.conn.LocalAddr().String()
		default:
			if peer = c.conn.LocalAddr().String(); e.Broker == "short" || e.Broker == "ends" {
				peer = other.conn.LocalAddr().String()
			}
		}
		if e.Peer != peer || (e.Conn != 0) != (peer != "") {
			t.Errorf("%s %s: by %d %q, want %q", e.Kind, e.Broker, e.Conn, e.Peer, peer)
		}
		if e.Text == "" || !slices.Contains(EventKinds(), e.Kind) || time.Since(e.Time) > time.Minute {
			t.Errorf("%+v", e)
		}
	}
	if g := s.TopicGone("Base"); !g.Found || g.Event.Kind != "closed" {
		t.Errorf("Base went with %+v", g)
	}
}

// What is shown of connections is there whether or not they have asked anything.
func TestConnections(t *testing.T) {
	s := start(t)
	b, c, silent := s.dial(), s.dial(), s.dial()
	b.register(broker("a"))
	c.want(routeOf("None").from(317), fmt.Sprintf("17 %q", remarkNoTopic+"None"+remarkNoTopicHelp))
	eventually(t, "three connections", func() bool { return s.Status().Connections == 3 })
	s.clock.now.Add(int64(5 * time.Second))
	byPeer := map[string]ConnInfo{}
	var after uint64
	for more := true; more; {
		var page []ConnInfo
		var err error
		if page, more, err = s.Connections(context.Background(), after, 2); err != nil || len(page) > 2 {
			t.Fatal(page, err)
		}
		for _, info := range page {
			byPeer[info.Peer] = info
			after = max(after, info.ID)
		}
	}
	for name, tt := range map[string]struct {
		of   *client
		want ConnInfo
	}{
		"broker": {b, ConnInfo{Identified: true, Version: codec.ServerVersion, Writer: true}},
		"client": {c, ConnInfo{Identified: true, Version: 317}},
		"silent": {silent, ConnInfo{}},
	} {
		got := byPeer[tt.of.conn.LocalAddr().String()]
		tt.want.ID, tt.want.Loop, tt.want.Peer, tt.want.Open = got.ID, got.Loop, tt.of.conn.LocalAddr().String(), 5*time.Second
		if got != tt.want || got.ID == 0 {
			t.Errorf("%s\n got %+v\nwant %+v", name, got, tt.want)
		}
		if again, ok, err := s.Connection(context.Background(), got.ID); !ok || err != nil || again != got {
			t.Errorf("%s by its id: %+v, %v, %v", name, again, ok, err)
		}
	}
	if _, ok, err := s.Connection(context.Background(), 999); ok || err != nil {
		t.Errorf("an unknown connection: %v, %v", ok, err)
	}
	s.stop()
	if conns, more, _ := s.Connections(context.Background(), 0, 10); len(conns) > 0 || more {
		t.Errorf("%d connections after the stop", len(conns))
	}
}
