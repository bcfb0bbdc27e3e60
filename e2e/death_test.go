//go:build e2e && death

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

const (
	deathTopic     = "Death"
	deathProducers = "20"
	deathPeriod    = "100"            // milliseconds between two sends of a producer
	deathLimit     = 5 * time.Minute  // for a broker to leave all routes
	deathRest      = 45 * time.Second // a poll of the clients, a send and some: until the last has heard
	linkDown       = 8 * time.Second  // a short partition
	bootTime       = time.Second      // until a host that vanished refuses connections
)

// deathRow is one setup: nameservers of one kind and the producers that know these.
type deathRow struct {
	name    string
	servers int
	rust    bool
	apache  bool
	set     func(i int) []string // settings of server i
	peers   bool
	client  []string // options of the producers

	ns       []*harness.Nameserver
	producer *harness.Session
}

var deathProbes = []string{"probeIntervalMillis=1000", "probeRemoves=true", "probeRemoveAfterMillis=8000"}

func sameEverywhere(settings ...string) func(int) []string {
	return func(int) []string { return settings }
}

// onFirst has the first server probe; the others probe only what it tells of, and may remove what doesn't answer them either.
func onFirst(i int) []string {
	if i == 0 {
		return deathProbes
	}
	return []string{"probeRemoves=true"}
}

func deathRows() []*deathRow {
	return []*deathRow{
		{name: "Apache 5.5.0", servers: 1, apache: true, set: sameEverywhere()},
		{name: "rocketmq-rust 1.0.0", servers: 1, rust: true, set: sameEverywhere()},
		{name: "defaults", servers: 1, set: sameEverywhere()},
		{name: "defaults, producers with sendLatencyFaultEnable", servers: 1, set: sameEverywhere(), client: []string{"latency-fault"}},
		{name: "brokerKeepAliveSeconds=5", servers: 1, set: sameEverywhere("brokerKeepAliveSeconds=5")},
		{name: "probes", servers: 1, set: sameEverywhere(deathProbes...)},
		{name: "peers, probes on all three", servers: 3, peers: true, set: sameEverywhere(deathProbes...)},
		{name: "peers, probes on one of three", servers: 3, peers: true, set: onFirst},
		{name: "the same, producers with pollNameServerInterval=5000 and sendLatencyFaultEnable", servers: 3, peers: true, set: onFirst,
			client: []string{"poll=5000", "latency-fault"}},
	}
}

// TestBrokersDeath measures how long after a broker's end its nameservers and their clients are done with it. Two brokers share a topic
// and register with the nameservers of all rows, so that all see the same end at the same moment; each row has producers of its own. It
// judges nothing but that everybody is done: the numbers are for BENCHMARKS.md. WAYMARK_DEATH picks the ends, WAYMARK_DEATH_ROWS (a regular
// expression) the rows.
func TestBrokersDeath(t *testing.T) {
	hosts, err := harness.NewHosts()
	t.Cleanup(func() {
		if err := hosts.Close(); err != nil {
			t.Log(err)
		}
	})
	if err != nil {
		t.Skip(err)
	}
	d := newDeathLab(t, hosts)
	ends := os.Getenv("WAYMARK_DEATH")
	if ends == "" {
		ends = "partition vanish reboot"
	}
	for _, end := range strings.Fields(ends) {
		switch end {
		case "partition":
			d.partition(t)
		case "vanish":
			d.vanish(t, "vanishes", nil)
		case "reboot":
			d.vanish(t, fmt.Sprintf("vanishes and after %v refuses connections", bootTime), d.shadow)
		default:
			t.Fatalf("WAYMARK_DEATH: %s is none of partition, vanish, reboot", end)
		}
	}
}

type deathLab struct {
	rows   []*deathRow
	victim *harness.Broker
	host   *harness.Host // the victim's
	shadow *harness.Host
}

func newDeathLab(t *testing.T, hosts *harness.Hosts) *deathLab {
	t.Helper()
	d := &deathLab{}
	picked, err := regexp.Compile(os.Getenv("WAYMARK_DEATH_ROWS"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*harness.Nameserver
	for _, row := range deathRows() {
		if !picked.MatchString(row.name) || !row.start(t, hosts.Addr) {
			continue
		}
		d.rows = append(d.rows, row)
		all = append(all, row.ns...)
	}
	if d.host, err = hosts.Add(21); err != nil {
		t.Fatal(err)
	}
	if d.shadow, err = hosts.Shadow(21); err != nil {
		t.Fatal(err)
	}
	survivor, err := hosts.Add(22)
	if err != nil {
		t.Fatal(err)
	}
	jars := shared.jars(t, currentVersion)
	for _, host := range []*harness.Host{d.host, survivor} {
		b := newBroker(t, harness.BrokerConfig{
			Jars: jars, Name: "broker-" + host.Addr[strings.LastIndexByte(host.Addr, '.')+1:], Nameservers: all, Host: host,
			Properties: []string{"registerNameServerPeriod=30000"},
		})
		if host == d.host {
			d.victim = b
		}
		if err := b.Start(); err != nil {
			t.Fatal(err)
		}
		out, err := shared.java.MQAdmin(jars, t.TempDir(), "updateTopic", "-n", all[0].Addr, "-b", b.Addr, "-t", deathTopic, "-r", "4", "-w", "4")
		if err != nil {
			t.Fatal(err, out)
		}
		for _, n := range all {
			await(t, "the topic's route with "+b.Name, func() error { return routeHas(n, b.Addr) })
		}
	}
	d.produce(t, jars)
	return d
}

// start starts the row's nameservers; false: this machine doesn't have the program.
func (row *deathRow) start(t *testing.T, ip string) bool {
	t.Helper()
	program := programOf(t, waymark)
	if row.apache {
		program = programOf(t, apache)
	} else if row.rust {
		var err error
		if program, err = harness.RustProgram(); errors.Is(err, harness.ErrToolMissing) {
			t.Log(err)
			return false
		}
	}
	var peers []string
	for range row.servers {
		port, err := harness.FreePort()
		if err != nil {
			t.Fatal(err)
		}
		peers = append(peers, ip+":"+strconv.Itoa(port))
	}
	for i := range row.servers {
		settings := row.set(i)
		if row.peers {
			settings = append([]string{"peers=" + strings.Join(peers, ";"), "peerListenAddress=" + peers[i]}, settings...)
		}
		n, err := harness.NewNameserver(program, t.TempDir(), settings...)
		if err != nil {
			t.Fatal(err)
		}
		n.MoveTo(ip)
		t.Cleanup(func() { n.Kill(); logOnFailure(t, n) })
		if err := n.Start(); err != nil {
			t.Fatal(err)
		}
		row.ns = append(row.ns, n)
	}
	return true
}

// produce starts the rows' producers one after the other.
func (d *deathLab) produce(t *testing.T, jars harness.Jars) {
	t.Helper()
	classes := shared.program(t, jars, "Steady.java")
	for _, row := range d.rows {
		args := append([]string{harness.Addrs(row.ns), deathTopic, deathProducers, deathPeriod}, row.client...)
		session, err := shared.java.StartSession(jars, classes, t.TempDir(), "Steady", args...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(session.Kill)
		if _, err := session.Await("steady", 2*time.Minute); err != nil {
			t.Fatal(err, session.Errors())
		}
		row.producer = session
	}
}

func routeHas(n *harness.Nameserver, addr string) error {
	return n.Ask(func(a *harness.Asker) error {
		route, err := a.RouteBytes(deathTopic)
		if err == nil && !bytes.Contains(route, []byte(strconv.Quote(addr))) {
			err = errNoBroker
		}
		return err
	})
}

// presence is how a nameserver's route changed after an end: when the broker went and came, in turn.
type presence struct {
	turns []time.Duration
}

func (p presence) String() string {
	if len(p.turns) == 0 {
		return "stayed"
	}
	var words []string
	for i, at := range p.turns {
		words = append(words, fmt.Sprintf("%s %.1f s", [...]string{"gone", "back"}[i%2], at.Seconds()))
	}
	return strings.Join(words, ", ")
}

// watch looks at each nameserver's route ten times a second until enough says so or the limit is over.
func (d *deathLab) watch(t *testing.T, from time.Time, limit time.Duration, enough func([][]presence) bool) [][]presence {
	t.Helper()
	seen := make([][]presence, len(d.rows))
	for i, row := range d.rows {
		seen[i] = make([]presence, len(row.ns))
	}
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for ; time.Since(from) < limit && !enough(seen); <-ticker.C {
		for i, row := range d.rows {
			for k, n := range row.ns {
				err := routeHas(n, d.victim.Addr)
				if err != nil && !errors.Is(err, errNoBroker) {
					t.Fatal(err)
				}
				p := &seen[i][k]
				if there := len(p.turns)%2 == 0; there != (err == nil) {
					p.turns = append(p.turns, time.Since(from))
				}
			}
		}
	}
	return seen
}

// everywhere reports whether the broker is there, or gone, in all routes.
func everywhere(seen [][]presence, there bool) bool {
	for _, row := range seen {
		for _, p := range row {
			if there != (len(p.turns)%2 == 0) {
				return false
			}
		}
	}
	return true
}

// vanish cuts the victim's host off, without a word to anybody; boots, unless it is nil, takes its address a little later.
func (d *deathLab) vanish(t *testing.T, what string, boots *harness.Host) {
	t.Helper()
	from := time.Now()
	must(t, d.host.Cut())
	if boots != nil {
		time.AfterFunc(bootTime, func() {
			if err := boots.Connect(); err != nil {
				t.Error(err)
			}
		})
	}
	seen := d.watch(t, from, deathLimit, func(seen [][]presence) bool { return everywhere(seen, false) })
	if !everywhere(seen, false) {
		t.Errorf("not out of all routes within %v", deathLimit)
	}
	time.Sleep(deathRest) // what is waited for is that nothing happens any more
	d.report(t, "A broker's host "+what, from, seen)
	if boots != nil {
		must(t, boots.Cut())
	}
	must(t, d.host.Connect())
	d.settle(t)
}

// partition cuts the victim off for a while.
func (d *deathLab) partition(t *testing.T) {
	t.Helper()
	from := time.Now()
	must(t, d.host.Cut())
	time.AfterFunc(linkDown, func() {
		if err := d.host.Connect(); err != nil {
			t.Error(err)
		}
	})
	seen := d.watch(t, from, linkDown+deathRest, func([][]presence) bool { return false })
	d.report(t, fmt.Sprintf("A broker's link is down for %v", linkDown), from, seen)
	d.settle(t)
}

// settle waits until the victim is in all routes, and the producers have found it.
func (d *deathLab) settle(t *testing.T) {
	t.Helper()
	for _, row := range d.rows {
		for _, n := range row.ns {
			await(t, "back", func() error { return routeHas(n, d.victim.Addr) })
		}
	}
	time.Sleep(deathRest)
}

func (d *deathLab) report(t *testing.T, title string, from time.Time, seen [][]presence) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s:\n\n| Nameservers | Broker in the route of each | Last client good after, s | Median client, s | Sends failed | Sends over 1 s |\n|---|---|---|---|---|---|\n", title)
	for i, row := range d.rows {
		answer, err := row.producer.Ask(fmt.Sprintf("since %d", from.UnixMilli()), "since ", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		var bad, slow, last, median, of int
		if _, err := fmt.Sscanf(answer, "since bad=%d slow=%d last=%d median=%d of=%d", &bad, &slow, &last, &median, &of); err != nil {
			t.Fatal(answer, err)
		}
		if last < 0 {
			t.Errorf("%s: a producer has had no good send since its last bad one", row.name)
		}
		var servers []string
		for _, p := range seen[i] {
			servers = append(servers, p.String())
		}
		fmt.Fprintf(&b, "| %s | %s | %.1f | %.1f | %d | %d |\n",
			row.name, strings.Join(servers, "; "), float64(last)/1000, float64(median)/1000, bad, slow)
	}
	t.Log(b.String())
}
