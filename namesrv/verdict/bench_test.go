package verdict

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// bench is one judge over one table, with brokers a, b, … that registered at its time 0.
type bench struct {
	t     *testing.T
	table *core.Table
	judge *Judge
	now   int64
	acts  Actions
	// hosts and sources say where the nth broker answers and registers from; nil: each from a host of its own.
	hosts, sources func(int) netip.Addr
}

var anyVersion = codec.DataVersion{Timestamp: 5, Counter: 5}

func newBench(t *testing.T, rules Rules, brokers int) *bench {
	b := &bench{t: t, table: core.NewTable(core.DefaultSettings(), nil), judge: NewJudge(rules), now: int64(time.Hour)}
	b.judge.SetPeers(2, 2)
	for i := range brokers {
		b.register(i)
	}
	return b
}

func nth(i int) Broker { return Broker{"c", fmt.Sprint("b", i), fmt.Sprint("b", i, ":1"), 0} }

// hostOf is the address of the nth host.
func hostOf(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(i)}) }

func (b *bench) host(i int) netip.Addr {
	if b.hosts != nil {
		return b.hosts(i)
	}
	return hostOf(i)
}

func (b *bench) source(i int) netip.Addr {
	if b.sources != nil {
		return b.sources(i)
	}
	return b.host(i)
}

func (b *bench) register(i int) {
	n := nth(i)
	topics := []codec.TopicConfig{{Name: "t", Perm: 6}, {Name: "u", Perm: 6}}
	var out core.Outcome
	b.table.Step(b.now, []core.Command{&core.RegisterBroker{
		Conn: 1, PeerAddr: netip.AddrPortFrom(b.source(i), 1).String(), ClusterName: n.ClusterName, BrokerName: n.BrokerName, BrokerAddr: n.BrokerAddr,
		Body: &codec.RegisterBody{DataVersion: anyVersion, Topics: topics},
	}}, &out)
	b.judge.Know(b.now, b.table.Load())
}

// pass lets the time go by, a tenth of a second at a time, with probes that come to what outcome says.
func (b *bench) pass(d time.Duration, outcome func(Broker) Outcome) {
	for end := b.now + int64(d); b.now < end; {
		b.now += int64(100 * time.Millisecond)
		probes := len(b.acts.Probe)
		b.judge.Due(b.now, 1000, &b.acts)
		for _, p := range b.acts.Probe[probes:] {
			b.judge.Probed(b.now, p.Broker, b.result(p.Broker, outcome(p.Broker)))
		}
	}
}

// makeSuspect has the only broker answer, and then not any more.
func (b *bench) makeSuspect() {
	b.t.Helper()
	b.pass(2*time.Second, always(Answered))
	b.pass(4*time.Second, always(Silent))
	if b.judge.Suspects() != 1 {
		b.t.Fatal("not suspect")
	}
}

// result is what comes of a probe of that broker.
func (b *bench) result(of Broker, o Outcome) Result {
	i := 0
	fmt.Sscanf(of.BrokerName, "b%d", &i)
	return Result{Outcome: o, At: b.host(i)}
}

func (b *bench) hear(peer string, kind Kind, i int, age time.Duration) {
	b.judge.Heard(b.now, peer, &Word{Kind: kind, Broker: nth(i), Version: anyVersion, Sign: b.now - int64(age)})
}

func (b *bench) wantDeclared(want int, by string) {
	b.t.Helper()
	got := map[string]int{}
	for _, d := range b.acts.Declare {
		got[d.BrokerName]++
		if d.By != by {
			b.t.Errorf("%s is declared dead by %q, want %q", d.BrokerName, d.By, by)
		}
	}
	if len(got) != want {
		b.t.Errorf("declared dead: %v, want %d", got, want)
	}
}

func always(o Outcome) func(Broker) Outcome { return func(Broker) Outcome { return o } }

// begin lets a second go by and returns the brokers whose probes have begun; nothing comes of them yet.
func (b *bench) begin(d time.Duration) (probes []Target) {
	for end := b.now + int64(d); b.now < end; {
		b.now += int64(100 * time.Millisecond)
		var a Actions
		b.judge.Due(b.now, 1000, &a)
		probes = append(probes, a.Probe...)
	}
	return probes
}
