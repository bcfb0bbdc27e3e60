//go:build faults && linux

package faults

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

const (
	loadConns, loadDepth = 2_000, 64
	loadTime             = 6 * time.Second // twice the brokers' timeout
)

// TestOverload: 2,000 connections with 64 queries under way each. No broker expires, whoever administers is answered.
func TestOverload(t *testing.T) { unlessLate(t, overload) }

func overload(t *testing.T) {
	s := newSite(t)
	p := s.start()
	brokers := s.beatingBrokers()
	admin := s.dial()
	load := s.queryLoad(loadConns)
	var took waits
	for end := time.Now().Add(loadTime); time.Now().Before(end); {
		for _, r := range []request{
			ask(codec.RequestPutKVConfig, "namespace", "NS", "key", "k", "value", fmt.Sprint(took.n)),
			ask(codec.RequestWipeWritePermOfBroker, "brokerName", "nobody"), ask(codec.RequestGetBrokerClusterInfo),
			ask(codec.RequestGetAllTopicListFromNameserver), ask(codec.RequestGetNamesrvConfig), route(brokers[0].name),
		} {
			began := time.Now()
			admin.want(codec.ResponseSuccess, r)
			took.note(codec.ResponseSuccess, time.Since(began))
		}
	}
	load.end(t)
	t.Logf("%d queries answered in %v, codes %v, %d MiB; administration took up to %v", load.total(), loadTime, load.counts(), p.peakMiB(), took.longest)
	s.wantAll(brokers)
	p.stop()
}

// TestOverloadOfAnswers: peers that don't read have used the budget of unsent bytes up. They and whoever asks for lists are
// answered code 2 at once; queries of peers that take their answers, brokers and changes are served.
func TestOverloadOfAnswers(t *testing.T) { unlessLate(t, overloadOfAnswers) }

func overloadOfAnswers(t *testing.T) {
	const deafPeers, each = 300, 20 * loadDepth
	s := newSite(t, "outputBudgetBytes=1048576", "serverSocketSndBufSize=16384")
	p := s.start()
	brokers := s.beatingBrokers()
	admin := s.dial()
	many := []string{"many"}
	for i := range 5_000 {
		many = append(many, fmt.Sprintf("TopicOfTheCluster%06d", i))
	}
	admin.want(codec.ResponseSuccess, registration("many", time.Hour, 1, many...))
	var deaf []*client
	for range deafPeers {
		c := s.dialNarrow()
		var frames []byte
		for i := range each {
			frames = route(brokers[0].name).append(frames, int32(i))
		}
		if _, err := c.conn.Write(frames); err != nil {
			t.Fatal(err)
		}
		deaf = append(deaf, c)
	}
	list := ask(codec.RequestGetAllTopicListFromNameserver)
	waitFor(t, "code 2", func() bool { return admin.call(list).Code == codec.ResponseSystemBusy })
	for end := time.Now().Add(loadTime); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		admin.want(codec.ResponseSystemBusy, list)
		admin.want(codec.ResponseSuccess, route(brokers[0].name))
		admin.want(codec.ResponseSuccess, ask(codec.RequestPutKVConfig, "namespace", "NS", "key", "k", "value", "v"))
		admin.want(codec.ResponseSuccess, registration("late", time.Minute, 1, "late", "pad"))
		admin.want(codec.ResponseSuccess, ask(codec.RequestUnregisterBroker, "clusterName", cluster, "brokerName", "late", "brokerAddr", "late:10911", "brokerId", "0"))
	}
	codes := map[int32]int{}
	for range each {
		a, err := deaf[0].next(waitLimit)
		if err != nil {
			t.Fatalf("a peer that reads late, after %v: %v", codes, err)
		}
		codes[a.Code]++
	}
	t.Logf("a peer that reads late: codes %v", codes)
	if codes[codec.ResponseSystemBusy] == 0 || len(codes) != 2 {
		t.Errorf("a peer that reads late: codes %v, want some of 0 and some of 2", codes)
	}
	for _, c := range deaf {
		c.close()
	}
	s.wantAll(brokers)
	p.stop()
}

// TestRegistrationStorm: brokers of 20,000 topics register all of them again, with one more each time, as fast as they are
// answered. Brokers that only send heartbeats stay, queries are answered.
func TestRegistrationStorm(t *testing.T) {
	ofSize(t)
	unlessLate(t, registrationStorm)
}

func registrationStorm(t *testing.T) {
	const (
		storming, topics = 8, 20_000
		longestWait      = 2 * time.Second // on a busy machine
	)
	s := newSite(t)
	p := s.start()
	brokers := s.beatingBrokers()
	names := []string{"pad"}
	for i := range topics {
		names = append(names, fmt.Sprintf("TopicOfTheCluster%06d", i))
	}
	var running sync.WaitGroup
	var registered atomic.Int64
	stop := make(chan struct{})
	for i := range storming {
		c := s.dial()
		running.Go(func() {
			for round := 1; ; round++ {
				select {
				case <-stop:
					return
				default:
				}
				r := registration(fmt.Sprint("storming-", i), time.Minute, round, append(names[:len(names):len(names)], fmt.Sprint("Late", round))...)
				if a, err := c.tryCall(r, waitLimit); err != nil || a.Code != codec.ResponseSuccess {
					t.Errorf("registration %d of broker %d: %+v, %v", round, i, a, err)
					return
				}
				registered.Add(1)
			}
		})
	}
	var queries waits
	c := s.dial()
	running.Go(func() { queries.measure(c, []request{route(brokers[0].name), route("none")}, stop) })
	time.Sleep(loadTime)
	close(stop)
	running.Wait()
	t.Logf("%d registrations of %d topics, %d MiB; %d queries took up to %v", registered.Load(), topics, p.peakMiB(), queries.n, queries.longest)
	if queries.longest > longestWait {
		t.Errorf("a query took %v", queries.longest)
	}
	s.wantAll(brokers)
	p.stop()
}

func (s *site) beatingBrokers() (brokers []*broker) {
	for i := range 3 {
		b := s.register(fmt.Sprint("broker-", i), loadTime/2)
		b.beat()
		brokers = append(brokers, b)
	}
	return brokers
}

// wantBeating fails if the nameserver ended the broker's connection, as it does with one that has expired.
func (b *broker) wantBeating() {
	b.t.Helper()
	if err := b.ended.Load(); err != nil {
		b.skipIfLate()
		b.t.Errorf("%s: %v", b.name, err)
	}
}

func (s *site) wantAll(brokers []*broker) {
	s.t.Helper()
	c := s.dial()
	for _, b := range brokers {
		b.wantBeating()
		if a := c.call(route(b.name)); a.Code != codec.ResponseSuccess {
			b.skipIfLate()
			s.t.Errorf("%s: %d %s", b.name, a.Code, a.Remark)
		}
	}
}

// queryLoad is connections that each keep loadDepth queries under way.
type queryLoad struct {
	running sync.WaitGroup
	stop    atomic.Bool
	codes   [2048]atomic.Int64
}

func (s *site) queryLoad(connections int) *queryLoad {
	l := &queryLoad{}
	var clients []*client
	for range connections {
		clients = append(clients, s.dial())
	}
	for i, c := range clients {
		l.running.Go(func() {
			if err := l.keepAsking(c, i); err != nil && !l.stop.Load() {
				s.t.Errorf("connection %d: %v", i, err)
			}
		})
	}
	return l
}

func (l *queryLoad) keepAsking(c *client, i int) error {
	var batch []byte
	for q := range loadDepth {
		batch = route(fmt.Sprint("broker-", (i+q)%4)).append(batch, int32(q)) // one of four is unknown
	}
	for !l.stop.Load() {
		if _, err := c.conn.Write(batch); err != nil {
			return err
		}
		_ = c.conn.SetReadDeadline(time.Now().Add(waitLimit))
		for range loadDepth {
			code, err := skipAnswer(c.r)
			if err != nil {
				return err
			}
			l.codes[code%len(l.codes)].Add(1)
		}
	}
	return nil
}

// skipAnswer reads one answer and of it no more than its code, so that the load takes little from what it is put on.
func skipAnswer(r *bufio.Reader) (code int, err error) {
	const start = `{"code":`
	head, err := r.Peek(8 + len(start) + 4)
	if err != nil {
		return 0, err
	}
	digits, ok := bytes.CutPrefix(head[8:], []byte(start))
	if !ok {
		return 0, fmt.Errorf("answer begins with %q", head)
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			break
		}
		code = 10*code + int(c-'0')
	}
	_, err = r.Discard(4 + int(binary.BigEndian.Uint32(head)))
	return code, err
}

func (l *queryLoad) end(t *testing.T) {
	t.Helper()
	l.stop.Store(true)
	l.running.Wait()
	allowed := []int32{codec.ResponseSuccess, codec.ResponseTopicNotExist, codec.ResponseSystemBusy}
	rest := l.total()
	for _, code := range allowed {
		rest -= l.codes[code].Load()
	}
	if rest != 0 || l.total() == 0 {
		t.Errorf("codes %v, want only %v", l.counts(), allowed)
	}
}

func (l *queryLoad) counts() map[int]int64 {
	counts := map[int]int64{}
	for code := range l.codes {
		if n := l.codes[code].Load(); n > 0 {
			counts[code] = n
		}
	}
	return counts
}

func (l *queryLoad) total() (n int64) {
	for _, of := range l.counts() {
		n += of
	}
	return n
}
