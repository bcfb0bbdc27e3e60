//go:build e2e

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

const (
	routesRead   = 100_000
	flapEvery    = 10 * time.Millisecond
	flappingName = "Flapping" // of topic and broker
	askRegister  = 103
	askGoodbye   = 104
)

// TestGoClientReadsAFlappingRoute: a broker registers and unregisters every 10 ms while a Go client, built to report data races,
// reads its topic's route 100,000 times or for 20 s. That client's decoder panics at a broker without addresses and takes
// white space for something else: each of its reads gives the broker's address, or no route. Others check the bytes themselves.
func TestGoClientReadsAFlappingRoute(t *testing.T) {
	t.Parallel()
	n := newNameserver(t, programOf(t, waymark))
	peer := harness.RacingGoClient(shared.root)
	need(t, peer.Prepare())
	broker, err := harness.Dial(n.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	addr := refusingAddr(t)
	if err := comeAndGo(broker, askRegister, addr); err != nil {
		t.Fatal(err)
	}
	reader, err := peer.StartSession(t.TempDir(), "routes", n.Addr, flappingName, fmt.Sprint(routesRead))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { reader.Kill(); logOnFailure(t, reader) })
	if _, err := reader.Await("ready", flowLimit); err != nil {
		t.Fatal(err)
	}
	flaps, whole := flapWhile(t, reader.Process(), n, broker, addr)
	line, err := reader.Await("OK ", flowLimit)
	t.Logf("%s; %d changes, %d answers of known bytes", line, flaps, whole)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := parseCounts(line); err != nil || c["found"] == 0 || c["absent"] == 0 {
		t.Errorf("the client saw only one kind of route: %s, %v", line, err)
	}
	if strings.Contains(reader.Errors(), "panic") || strings.Contains(reader.Errors(), "DATA RACE") {
		t.Error(reader.Errors())
	}
}

// flapWhile lets the broker come and go until the process ends, and checks the bytes of the route's two forms after each change.
func flapWhile(t *testing.T, reader *harness.Process, n *harness.Nameserver, broker *harness.Asker, addr string) (flaps, whole int) {
	t.Helper()
	asker, err := harness.Dial(n.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	ticker := time.NewTicker(flapEvery)
	defer ticker.Stop()
	for reader.Running() {
		<-ticker.C
		if err := comeAndGo(broker, []int{askGoodbye, askRegister}[flaps%2], addr); err != nil {
			t.Fatal(err)
		}
		for _, form := range []struct {
			ask func(topic string) ([]byte, error)
			id  string
		}{{asker.RouteBytes, `"0"`}, {asker.LegacyRouteBytes, "0"}} {
			body, err := form.ask(flappingName)
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprintf(`"brokerAddrs":{%s:%q}`, form.id, addr)
			if there := flaps%2 == 1; there != (body != nil) || there && !strings.Contains(string(body), want) || strings.ContainsAny(string(body), " \t\n") {
				t.Fatalf("after %d changes the route is %q", flaps+1, body)
			}
			whole++
		}
		flaps++
	}
	return flaps, whole
}

// comeAndGo registers or unregisters the broker.
func comeAndGo(broker *harness.Asker, code int, addr string) error {
	fields := map[string]string{"clusterName": "DefaultCluster", "brokerName": flappingName, "brokerAddr": addr, "brokerId": "0",
		"haServerAddr": addr, "compressed": "false"}
	const table = `{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":1,"stateVersion":0,"timestamp":1700000000000},` +
		`"topicConfigTable":{"Flapping":{"topicName":"Flapping","perm":6,"readQueueNums":4,"writeQueueNums":4},"Other":{"topicName":"Other","perm":6,"readQueueNums":4,"writeQueueNums":4}}}}`
	body := []byte(table)
	if code == askGoodbye {
		body = nil
	}
	answer, err := broker.AskWithBody(code, fields, body)
	if err == nil && answer.Code != 0 {
		err = fmt.Errorf("request %d: code %d, %q", code, answer.Code, answer.Remark)
	}
	return err
}

// refusingAddr is an address at which nobody listens during the test: below the system's range, and claimed.
func refusingAddr(t *testing.T) string {
	t.Helper()
	port, err := harness.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	return harness.Loopback(port)
}
