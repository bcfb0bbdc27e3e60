//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// flowLimit is for what a flow does within a second or two, or within the few seconds that one frozen nameserver costs it.
const flowLimit = 2 * time.Minute

// flow is a Java client that sends and receives without a pause and accounts for each message: see Flow.java.
type flow struct{ *harness.Session }

// counts are what a flow tells of itself, since its start.
type counts map[string]int

// startFlow starts a client of a version that knows the nameservers, and waits until its messages come back. The topic
// is made on the brokers first: a topic that makes itself stays on the first broker that it meets.
func startFlow(t *testing.T, version, topic string, nameservers []*harness.Nameserver, brokers ...*harness.Broker) flow {
	t.Helper()
	for _, b := range brokers {
		createTopic(t, b, topic)
	}
	for _, n := range nameservers {
		awaitRoute(t, n, topic, func(r *harness.Route) bool { return len(r.Queues) == len(brokers) })
	}
	return startClientsOfFlow(t, version, topic, nameservers, 1)
}

// startClientsOfFlow is startFlow for so many clients and a topic that is there.
func startClientsOfFlow(t *testing.T, version, topic string, nameservers []*harness.Nameserver, clients int) flow {
	t.Helper()
	return runFlow(t, version, harness.Addrs(nameservers), topic, strconv.Itoa(clients))
}

// runFlow starts Flow with arguments, and waits until its messages come back.
func runFlow(t *testing.T, version string, args ...string) flow {
	t.Helper()
	jars := shared.jars(t, version)
	session, err := shared.java.StartSession(jars, shared.program(t, jars, "Flow.java"), filepath.Join(t.TempDir(), "flow"), "Flow", args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Kill(); logOnFailure(t, session) })
	if _, err := session.Await("ready", flowLimit); err != nil {
		t.Fatal(err)
	}
	return flow{session}
}

func brokerOf(t *testing.T, version, name string, nameservers ...*harness.Nameserver) *harness.Broker {
	t.Helper()
	return newBroker(t, harness.BrokerConfig{Jars: shared.jars(t, version), Name: name, Nameservers: nameservers})
}

// startAll starts brokers at the same time.
func startAll(t *testing.T, brokers ...*harness.Broker) {
	t.Helper()
	errs := make([]error, len(brokers))
	var wait sync.WaitGroup
	for i, b := range brokers {
		wait.Go(func() { errs[i] = b.Start() })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func (f flow) report(t *testing.T) counts {
	t.Helper()
	line, err := f.Ask("report", "report ", flowLimit)
	if err != nil {
		t.Fatal(err)
	}
	c, err := parseCounts(line)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func parseCounts(line string) (counts, error) {
	c := counts{}
	for _, field := range strings.Fields(line)[1:] { // the first word says what the line is
		name, text, _ := strings.Cut(field, "=")
		number, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("flow says %q: %w", line, err)
		}
		c[name] = number
	}
	return c, nil
}

// awaitPolls waits until the client has asked for its route and got it so many times, the first query having begun
// after the call, and has sent a round of messages to all queues since.
func (f flow) awaitPolls(t *testing.T, polls int) counts {
	t.Helper()
	before := f.report(t)
	// The answer to a query that was on its way at the call doesn't count.
	polled := f.await(t, time.Duration(polls)*flowLimit/4+flowLimit, func(c counts) bool {
		return c["polls"] > before["polls"]+polls
	})
	const queues = 8
	return f.await(t, flowLimit, func(c counts) bool { return c["sent"] > polled["sent"]+queues })
}

// await asks for reports until one is as expected.
func (f flow) await(t *testing.T, limit time.Duration, expected func(counts) bool) (c counts) {
	t.Helper()
	err := harness.Eventually(limit, func() error {
		if c = f.report(t); !expected(c) {
			return fmt.Errorf("flow reports %v", c)
		}
		return nil
	}, f.Process())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// fresh lets a client that starts now send a message.
func (f flow) fresh(t *testing.T, when string) {
	t.Helper()
	line, err := f.Ask("fresh", "fresh ", flowLimit)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(line, "fresh ok ") {
		t.Errorf("a new client %s: %s", when, line)
	}
}

// stop ends the flow: no send may have failed beyond the client's retries, and all that was stored was received.
func (f flow) stop(t *testing.T) {
	t.Helper()
	line, err := f.Ask("stop", "final ", 2*flowLimit)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(line)
	c, err := parseCounts(line)
	if err != nil {
		t.Fatal(err)
	}
	if c["sent"] == 0 || c["failed"] != 0 || c["missing"] != 0 {
		t.Errorf("flow ended with %s", line)
	}
}
