package peers

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/verdict"
)

// pair are two nameservers that hear each other, of which the second's messages are made by the test.
func pair(t *testing.T) (f *fleet, hearer, teller *Group) {
	f = newFleet(t)
	hearer, teller = f.add(nil), f.add(nil)
	f.meet()
	return f, hearer, teller
}

// message is words as teller says them to hearer.
func (f *fleet) message(teller *Group, change func(*envelope), words ...verdict.Word) []byte {
	f.t.Helper()
	teller.mu.Lock()
	p := teller.peers[f.all[0].Name()]
	teller.mu.Unlock()
	e, _, ok := teller.address(p)
	if !ok {
		f.t.Fatal("no beacon yet")
	}
	if change != nil {
		change(&e)
	}
	var queue []queued
	for _, w := range words {
		queue = append(queue, queued{Word: w})
	}
	b, _ := appendWords(e.append(nil, kindWords), queue, teller.o.Now())
	return b
}

// TestDelayed: a message says the same whenever it arrives, in whatever order, and counts once.
func TestDelayed(t *testing.T) {
	f, hearer, teller := pair(t)
	upTo := hearer.o.Now()
	first := f.message(teller, nil, aWord("first", teller.o.Now()))
	latest := hearer.o.Now()
	second := f.message(teller, nil, aWord("second", teller.o.Now()))
	time.Sleep(5 * quick) // under way
	for _, b := range [][]byte{second, first, second, first} {
		hearer.receive(b)
	}
	until(t, "words", func() bool { _, w := f.heard[0].get(); return len(w) == 2 })
	_, words := f.heard[0].get()
	if words[0].BrokerName != "second" || words[1].BrokerName != "first" {
		t.Fatalf("heard %v", words)
	}
	if s := words[1].Sign; s > latest {
		t.Errorf("sign of life at %d, but it was in [%d, %d]", s, upTo, latest)
	}
	if c := hearer.Counts(); c.Repeated != 2 || c.Heard != 2 {
		t.Errorf("%+v", c)
	}
}

// TestForged: what doesn't come from a peer's present process to this one is dropped, and so is what is no message.
func TestForged(t *testing.T) {
	f, hearer, teller := pair(t)
	w := aWord("b", teller.o.Now())
	strangers := [][]byte{
		f.message(teller, func(e *envelope) { e.From = "nobody" }, w),
		f.message(teller, func(e *envelope) { e.From = hearer.Name() }, w),
		f.message(teller, func(e *envelope) { e.FromRun++ }, w),
		f.message(teller, func(e *envelope) { e.ToRun++ }, w),
	}
	good := f.message(teller, nil, w)
	bad := [][]byte{
		nil, good[:1], good[:len(good)-1],
		f.message(teller, func(e *envelope) { e.Stamp += int64(time.Hour) }, w), // from the future
		f.message(teller, func(e *envelope) { e.Held = -1 }, w),
		f.message(teller, func(e *envelope) { e.Stamp = 1 << 62 }, w),
		make([]byte, maxMessageBytes+1),
	}
	unknown := [][]byte{append([]byte{messageVersion + 1}, good[1:]...), append([]byte{messageVersion, 200}, good[2:]...)}
	before := hearer.Counts()
	for _, b := range append(append(strangers, bad...), unknown...) {
		hearer.receive(b)
	}
	c := hearer.Counts()
	if n := c.Strangers - before.Strangers; n != uint64(len(strangers)) {
		t.Errorf("%d strangers, sent %d", n, len(strangers))
	}
	if n := c.Malformed - before.Malformed; n != uint64(len(bad)) {
		t.Errorf("%d malformed, sent %d", n, len(bad))
	}
	if n := c.Unknown - before.Unknown; n != uint64(len(unknown)) {
		t.Errorf("%d unknown, sent %d", n, len(unknown))
	}
	hearer.receive(append(good, "what a later version adds"...))
	until(t, "the good one", func() bool { return hearer.Counts().Heard == 1 })
}

// TestUnknownKind: words of kinds of a later version are left out, the others of their message count.
func TestUnknownKind(t *testing.T) {
	f, hearer, teller := pair(t)
	e, _, _ := teller.address(teller.peers[hearer.Name()])
	b := binary.AppendUvarint(e.append(nil, kindWords), 2)
	w := aWord("known", teller.o.Now())
	b = appendWord(b, &w, teller.o.Now())
	late := appendWord(nil, &w, teller.o.Now())
	late[1] = 'X' // of "closed"
	hearer.receive(append(b, late...))
	until(t, "the known one", func() bool { _, w := f.heard[0].get(); return len(w) == 1 })
	if c := hearer.Counts(); c.Unknown != 1 {
		t.Errorf("%+v", c)
	}
}

// TestFlood: a peer that says more than is taken is cut short and counted; later words count again.
func TestFlood(t *testing.T) {
	var b bucket
	now := int64(time.Hour)
	for range wordsAtOnce / maxBatchWords {
		if !b.take(maxBatchWords, now) {
			t.Fatal("refused before its share was used up")
		}
	}
	if b.take(1, now) {
		t.Error("more than its share is taken")
	}
	if now += int64(time.Second); !b.take(wordsPerSecond, now) || b.take(1, now) {
		t.Error("after a second there is room for wordsPerSecond")
	}
}

// TestQueueBounds: a queue drops its oldest words when it is full, and those that have waited too long.
func TestQueueBounds(t *testing.T) {
	q := newQueue()
	word := func(told int64) queued { return queued{told: told} }
	for i := range int64(maxQueueWords) {
		q.put([]queued{word(i)})
	}
	if n := q.put([]queued{word(1 << 30), word(1 << 30)}); n != 2 || q.len() != maxQueueWords {
		t.Errorf("dropped %d, %d are left", n, q.len())
	}
	words, late := q.take(3, 10)
	if late != 8 || len(words) != 3 || words[0].told != 10 {
		t.Errorf("late %d, first %d", late, words[0].told)
	}
	if n := q.putBack(words); n != 0 {
		t.Errorf("dropped %d", n)
	}
	if words, _ = q.take(1, 0); words[0].told != 10 {
		t.Errorf("first is %d", words[0].told)
	}
}

// TestWindow: each number counts once, in whatever order, unless it is far behind.
func TestWindow(t *testing.T) {
	var w window
	for _, step := range []struct {
		n     uint64
		fresh bool
	}{{5, true}, {5, false}, {3, true}, {3, false}, {4, true}, {68, true}, {5, false}, {4, false}, {6, true}, {1000, true}, {936, false}, {937, true}, {68, false}} {
		if got := w.fresh(step.n); got != step.fresh {
			t.Errorf("%d: %v", step.n, got)
		}
	}
}

// FuzzReceive: whatever comes, nothing panics, nothing unlimited is kept, and words are within bounds.
func FuzzReceive(f *testing.F) {
	e := envelope{From: "b", FromRun: 3, ToRun: 5, Stamp: 1, Held: 1, Seq: 1}
	w := aWord("broker", 0)
	body, _ := appendWords(e.append(nil, kindWords), []queued{{Word: w}}, 7)
	f.Add(body)
	f.Add(Digest{1, 2, 3, 4}.append(binary.AppendVarint(e.append(nil, kindBeacon), 9)))
	f.Add(appendQuery(e.append(nil, kindAsk), 1, Query{Topics, "b", "c", true}))
	f.Add(appendPage(e.append(nil, kindAnswer), 1, Page{[]Entry{{"a", 1, "v"}}, true, true}))
	f.Fuzz(func(t *testing.T, b []byte) {
		var words []verdict.Word
		o := Options{Now: func() int64 { return 1000 }}
		o.fill()
		g := &Group{o: o, name: "a", run: 5, peers: map[string]*peer{}, waits: map[uint64]chan Page{}, heard: make(chan batch, 1), asked: make(chan question, 1), log: newMemberLog(o.Logger, o.Now)}
		g.peers["b"] = &peer{name: "b", run: 3, alive: true, queue: newQueue()}
		g.receive(b)
		select {
		case h := <-g.heard:
			words = h.words
		default:
		}
		for _, w := range words {
			if w.Kind.String() == "" || w.Sign > 1000 || len(w.BrokerName) > maxTextBytes || len(w.BrokerAddr) > maxTextBytes || len(w.ClusterName) > maxTextBytes {
				t.Errorf("word %+v", w)
			}
		}
		if len(words) > maxBatchWords {
			t.Errorf("%d words", len(words))
		}
		_, _, _ = parseSelf(b)
	})
}
