package namesrv

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

var (
	linearTime = flag.Duration("linear.time", 0, "for how long TestLinearizable makes histories; 0: a few of fixed seeds")
	linearSeed = flag.Uint64("linear.seed", 1, "seed of the first history")
)

const (
	linearConns   = 6
	linearGroups  = 3
	linearRounds  = 20 // of a connection
	linearMost    = 4  // requests pipelined in a round
	linearHistory = 8  // without -linear.time
)

// TestLinearizable plays 103, 104, 105, 205 and 216 from several connections at once against a server on
// loopback and checks that the answers are those of some order of the requests, each taking effect between
// its sending and its answer and those of one connection in the order sent, in the reference model.
func TestLinearizable(t *testing.T) {
	began, histories, requests := time.Now(), 0, 0
	for seed := *linearSeed; ; seed++ {
		if (*linearTime == 0 && histories == linearHistory) || (*linearTime > 0 && time.Since(began) > *linearTime) {
			break
		}
		history := playHistory(t, seed)
		bad, err := checkLinear(linearConns, history)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, operations := range bad {
			t.Fatalf("seed %d: no order explains\n%s", seed, historyText(operations))
		}
		histories, requests = histories+1, requests+len(history)
	}
	t.Logf("%d histories of %d requests in all, the first of seed %d", histories, requests, *linearSeed)
}

// A history that a server made is refused with a stale answer in it. Not with every one: where the last writes were under way
// together, the answer before them may be that of another order, which nobody saw.
func TestLinearizableCanFail(t *testing.T) {
	history := playHistory(t, *linearSeed)
	stale, refused := 0, 0
	for i := range history { // the reads at the end, when all else is answered
		last := &history[i]
		in := last.Input.(*linearInput)
		if in.conn != linearConns-1 {
			continue
		}
		j := slices.IndexFunc(history, func(o porcupine.Operation) bool {
			return o.Input.(*linearInput).topic == in.topic && o.Output != last.Output
		})
		if j < 0 {
			continue
		}
		was := last.Output
		last.Output = history[j].Output
		bad, err := checkLinear(linearConns, history)
		if err != nil || len(bad) > 1 {
			t.Errorf("%s: answer %s in place of %s: %d groups refused (%v)", in.topic, last.Output, was, len(bad), err)
		}
		last.Output = was
		stale++
		refused += len(bad)
	}
	if refused == 0 {
		t.Errorf("none of %d stale answers is refused", stale)
	}
}

// playHistory makes one history against a server of its own. The last connection only reads, at the end.
func playHistory(t *testing.T, seed uint64) []porcupine.Operation {
	t.Helper()
	s := start(t)
	defer s.stop()
	players := make([]*linearPlayer, linearConns)
	began := time.Now()
	for i := range players {
		players[i] = &linearPlayer{client: s.dial(), t: t, conn: i, began: began, random: rand.New(rand.NewPCG(seed, uint64(i)))}
	}
	reader := players[linearConns-1]
	var wait sync.WaitGroup
	for _, p := range players[:linearConns-1] {
		wait.Go(func() {
			for range linearRounds {
				p.play(p.draw())
			}
		})
	}
	wait.Wait()
	for g := range linearGroups {
		for n := range linearTopics {
			reader.play([]linearRequest{route105(g, n)})
		}
	}
	var history []porcupine.Operation
	for _, p := range players {
		if p.err != nil {
			t.Fatalf("seed %d, connection %d: %v", seed, p.conn, p.err)
		}
		history = append(history, p.history...)
	}
	return history
}

// linearRequest is a request and what it is to the model.
type linearRequest struct {
	request
	input linearInput
}

// linearPlayer is one connection, used by one goroutine.
type linearPlayer struct {
	*client
	t       *testing.T
	conn    int
	began   time.Time
	random  *rand.Rand
	sent    [linearGroups]struct{ writes, reads int }
	last    [linearGroups]*registration // the latest registration, to be sent again
	history []porcupine.Operation
	err     error
}

// play sends requests at once and notes their answers.
func (p *linearPlayer) play(requests []linearRequest) {
	if p.err != nil {
		return
	}
	var frames []byte
	first := p.opaque + 1
	for i := range requests {
		in := &requests[i].input
		sent := &p.sent[in.group]
		in.conn, in.writesBefore, in.readsBefore = p.conn, sent.writes, sent.reads
		if in.command == nil {
			sent.reads++
		} else {
			sent.writes++
		}
		p.opaque++
		frames = append(frames, requests[i].frame(p.opaque)...)
	}
	call := int64(time.Since(p.began))
	if _, p.err = p.client.conn.Write(frames); p.err != nil {
		return
	}
	for range requests {
		var a *answer
		if a, p.err = p.next(); p.err != nil {
			return
		}
		p.history = append(p.history, porcupine.Operation{
			ClientId: p.conn, Input: &requests[a.opaque-first].input, Output: a.String(), Call: call, Return: int64(time.Since(p.began)),
		})
	}
}

// draw makes the requests of one round. Each group has two broker names, of which the first has two
// addresses that want to be master and a slave, and three topics.
func (p *linearPlayer) draw() (requests []linearRequest) {
	for range 1 + p.random.IntN(linearMost) {
		g := p.random.IntN(linearGroups)
		name := fmt.Sprintf("%c%d", 'a'+p.random.IntN(2), g)
		switch n := p.random.IntN(20); {
		case n < 10:
			requests = append(requests, route105(g, p.random.IntN(linearTopics)))
		case n < 15:
			requests = append(requests, p.register103(g, name))
		case n < 17:
			r := p.address(broker(name))
			requests = append(requests, linearRequest{r.unregister(), linearInput{group: g, command: &core.UnregisterBroker{
				ClusterName: cluster, BrokerName: name, BrokerAddr: r.addr(),
			}}})
		case n < 19:
			requests = append(requests, linearRequest{ask(codec.RequestWipeWritePermOfBroker, "brokerName", name),
				linearInput{group: g, command: &core.WipeWritePerm{BrokerName: name}}})
		default:
			topic := linearTopic(g, p.random.IntN(linearTopics))
			requests = append(requests, linearRequest{ask(codec.RequestDeleteTopicInNamesrv, "topic", topic),
				linearInput{group: g, command: &core.DeleteTopic{Topic: topic}}})
		}
	}
	return requests
}

const linearTopics = 3 // of a group

func linearTopic(group, n int) string { return fmt.Sprintf("T%d-%d", group, n) }

func route105(group, n int) linearRequest {
	topic := linearTopic(group, n)
	return linearRequest{routeOf(topic), linearInput{group: group, topic: topic}}
}

// register103 is a registration with some of the group's topics, or the last one again.
func (p *linearPlayer) register103(group int, name string) linearRequest {
	var r registration
	if last := p.last[group]; last != nil && p.random.IntN(3) == 0 {
		r = last.again()
	} else {
		r = p.address(broker(name)).counter(p.random.Int64N(3)).state(p.random.Int64N(2))
		r.topics = nil
		for n := range linearTopics {
			if p.random.IntN(3) > 0 {
				r.topics = append(r.topics, topicConfig{linearTopic(group, n), 1 + p.random.IntN(4), 6, 0})
			}
		}
	}
	p.last[group] = &r
	return linearRequest{r.request(), linearInput{group: group, command: r.linear(p.t)}}
}

// address is one of the addresses of a broker name; the first name has three.
func (p *linearPlayer) address(r registration) registration {
	switch n := p.random.IntN(4); {
	case r.fields["brokerName"][0] == 'b' || n < 2:
		return r
	case n == 2:
		return r.set("brokerAddr", "other-"+r.addr())
	}
	return r.slave(1)
}

// linear is the registration as the table is given it.
func (r registration) linear(t testing.TB) *core.RegisterBroker {
	body, err := codec.ParseRegisterBody([]byte(r.encode()), &codec.RegisterBodyOptions{Version: codec.ServerVersion})
	if err != nil {
		t.Error(err)
		body = &codec.RegisterBody{}
	}
	id, _ := strconv.ParseInt(r.fields["brokerId"], 10, 64) // broker() and slave() write numbers
	return &core.RegisterBroker{
		ClusterName: r.fields["clusterName"], BrokerName: r.fields["brokerName"], BrokerAddr: r.addr(), BrokerID: id,
		HAServerAddr: codec.NullString{S: r.fields["haServerAddr"], Valid: true}, ActingMaster: core.ActingFalse, Body: body,
	}
}
