//go:build e2e && death

package e2e

import (
	"bytes"
	"errors"
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
	deathProducers = "6"
	deathPeriod    = "500"            // milliseconds between two sends of a producer
	deathSteady    = 2 * time.Minute  // until all producers have sent; they start over one poll of theirs
	registersEvery = 30 * time.Second // the victim; a broker's default, and so is the clients' poll
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

// deathSlowProbes leave a broker in the routes for 40 s, longer than short partitions last.
var (
	deathSlowProbes = []string{"probeIntervalMillis=1000", "probeRemoves=true"}
	deathProbes     = append(deathSlowProbes[:2:2], "probeRemoveAfterMillis=8000")
)

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
		{name: "probes, probeRemoveAfterMillis as it is (40 s)", servers: 1, set: sameEverywhere(deathSlowProbes...)},
		{name: "three peers, probes on all", servers: 3, peers: true, set: sameEverywhere(deathProbes...)},
		{name: "three peers, probes on one", servers: 3, peers: true, set: onFirst},
		{name: "the same, producers with pollNameServerInterval=5000 and sendLatencyFaultEnable", servers: 3, peers: true, set: onFirst,
			client: []string{"poll=5000", "latency-fault"}},
	}
}

// TestBrokersDeath measures how long after a broker's end its nameservers and their clients are done with it. Two brokers share a topic
// and register with the nameservers of all rows, so that all see the same end at the same moment; each row has producers of its own. It
// judges nothing but that everybody is done and that the broker that lives stays: the numbers are for BENCHMARKS.md. WAYMARK_DEATH picks the
// ends and how often each is run, WAYMARK_DEATH_ROWS (a regular expression) the rows.
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
	plan := os.Getenv("WAYMARK_DEATH")
	if plan == "" {
		plan = "vanish=3 reboot=3 partition=3"
	}
	ends, err := parseEnds(plan)
	if err != nil {
		t.Fatal(err)
	}
	d := newDeathLab(t, hosts)
	for _, end := range ends {
		d.run(t, end)
	}
}

type deathLab struct {
	rows             []*deathRow
	victim, survivor *harness.Broker
	host             *harness.Host // the victim's
	shadow           *harness.Host
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
	d.host, err = hosts.Add(21)
	must(t, err)
	d.shadow, err = hosts.Shadow(21)
	must(t, err)
	survivor, err := hosts.Add(22)
	must(t, err)
	jars := shared.jars(t, currentVersion)
	d.victim = deathBroker(t, jars, d.host, all)
	d.survivor = deathBroker(t, jars, survivor, all)
	d.produce(t, jars)
	return d
}

// deathBroker starts a broker with the topic, and waits until all nameservers know both.
func deathBroker(t *testing.T, jars harness.Jars, host *harness.Host, all []*harness.Nameserver) *harness.Broker {
	t.Helper()
	b := newBroker(t, harness.BrokerConfig{
		Jars: jars, Name: "broker-" + host.Addr[strings.LastIndexByte(host.Addr, '.')+1:], Nameservers: all, Host: host,
		Properties: []string{"registerNameServerPeriod=" + strconv.FormatInt(registersEvery.Milliseconds(), 10)},
	})
	must(t, b.Start())
	out, err := shared.java.MQAdmin(jars, t.TempDir(), "updateTopic", "-n", all[0].Addr, "-b", b.Addr, "-t", deathTopic, "-r", "4", "-w", "4")
	if err != nil {
		t.Fatal(err, out)
	}
	for _, n := range all {
		await(t, "the topic's route with "+b.Name, func() error { return routeHas(n, b.Addr) })
	}
	return b
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

// produce starts the producers of all rows and waits until all are at it.
func (d *deathLab) produce(t *testing.T, jars harness.Jars) {
	t.Helper()
	classes := shared.program(t, jars, "Steady.java")
	for _, row := range d.rows {
		args := append([]string{harness.Addrs(row.ns), deathTopic, deathProducers, deathPeriod}, row.client...)
		session, err := shared.java.StartSession(jars, classes, t.TempDir(), "Steady", args...)
		must(t, err)
		t.Cleanup(session.Kill)
		row.producer = session
	}
	for _, row := range d.rows {
		if _, err := row.producer.Await("steady", deathSteady); err != nil {
			t.Fatal(err, row.producer.Errors())
		}
	}
}

func routeHas(n *harness.Nameserver, addr string) error {
	has, err := routeBrokers(n, addr)
	if err == nil && !has[0] {
		err = errNoBroker
	}
	return err
}

// routeBrokers asks a nameserver which of the addresses are in the topic's route.
func routeBrokers(n *harness.Nameserver, addrs ...string) (has []bool, err error) {
	err = n.Ask(func(a *harness.Asker) error {
		route, err := a.RouteBytes(deathTopic)
		for _, addr := range addrs {
			has = append(has, bytes.Contains(route, []byte(strconv.Quote(addr))))
		}
		return err
	})
	return has, err
}
