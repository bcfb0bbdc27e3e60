//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// Request and answer codes that brokers and their nameserver exchange.
const (
	registerBroker   = 103
	queryDataVersion = 322

	registrationRefused = 1
)

// firstOfDeflated is the first byte of a zlib stream with a window of 32 KiB. A JSON body begins with a brace.
const firstOfDeflated = 0x78

// checkDeflated: the broker's registrations are deflated, and their header says whether they are, as its version does.
func checkDeflated(announced string) func(*testing.T, *tappedBroker) {
	return func(t *testing.T, b *tappedBroker) {
		for _, e := range b.tap.Exchanges(registerBroker) {
			if len(e.Body) == 0 || e.Body[0] != firstOfDeflated || e.Fields["compressed"] != announced {
				t.Fatalf("registration with compressed=%s and the body %.20q", e.Fields["compressed"], e.Body)
			}
		}
	}
}

// awaitRefused: Apache's nameserver doesn't read a deflated body that is announced as plain, and never lists the broker.
func (b *tappedBroker) awaitRefused(t *testing.T) {
	t.Helper()
	const remark = "org.apache.rocketmq.remoting.exception.RemotingCommandException: Failed to decode RegisterBrokerBody, "
	err := harness.Eventually(brokerLimit, func() error {
		for _, e := range b.tap.Exchanges(registerBroker) {
			if e.Answer != nil && e.Answer.Code == registrationRefused && strings.HasPrefix(e.Answer.Remark, remark) {
				return nil
			}
		}
		return errors.New("no registration was refused")
	}, b.Process())
	if err != nil {
		t.Fatal(err)
	}
	b.checkHeaders(t)
	b.check(t, b)
	err = b.nameserver.Ask(func(a *harness.Asker) error {
		listed, err := a.HasBroker(b.Name, b.Addr)
		if listed {
			t.Error("a broker whose registration is refused is listed")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// awaitUnchanged waits until the broker has asked, at some time after its latest registration, whether it has to
// register, and was told that it hasn't. The first registration isn't asked for, nor are those of a new topic.
func awaitUnchanged(t *testing.T, b *tappedBroker) {
	err := harness.Eventually(brokerLimit, func() error {
		unchanged := false
		for _, e := range b.tap.Exchanges(registerBroker, queryDataVersion) {
			unchanged = e.Code == queryDataVersion && e.Answer != nil && e.Answer.ExtFields["changed"] == "false"
		}
		if !unchanged {
			return errors.New("the broker wasn't told that it is known as it is")
		}
		return nil
	}, b.Process())
	if err != nil {
		t.Fatal(err)
	}
}

// A broker that registers in parts has more topics than go into three of them: its own and those of a fresh broker.
const (
	splitTopics = 25
	splitSize   = 10
)

var splitProperties = []string{"enableSplitRegistration=true", fmt.Sprintf("splitRegistrationSize=%d", splitSize)}

func splitTopic(b *tappedBroker, i int) string { return fmt.Sprintf("Split-%s-%02d", b.Name, i) }

// writeSplitTopics puts topics where the broker finds its own at a start.
func writeSplitTopics(t *testing.T, b *tappedBroker) {
	t.Helper()
	topics := map[string]any{}
	for i := range splitTopics {
		topics[splitTopic(b, i)] = map[string]any{
			"topicName": splitTopic(b, i), "readQueueNums": i + 1, "writeQueueNums": i + 1, "perm": 6,
			"topicFilterType": "SINGLE_TAG", "topicSysFlag": 0, "order": false,
		}
	}
	text, err := json.Marshal(map[string]any{
		"topicConfigTable": topics,
		"dataVersion":      map[string]any{"counter": splitTopics, "stateVersion": 0, "timestamp": 1_700_000_000_000},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(b.Dir, "store", "config", "topics.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// checkSplit: the broker has registered in parts, and every topic of every part is listed with its route.
func checkSplit(t *testing.T, b *tappedBroker) {
	full := 0
	for _, e := range b.tap.Exchanges(registerBroker) {
		var body struct {
			Wrapper struct {
				Topics map[string]json.RawMessage `json:"topicConfigTable"`
			} `json:"topicConfigSerializeWrapper"`
		}
		if err := json.Unmarshal(e.Body, &body); err != nil {
			t.Fatal(err)
		}
		switch count := len(body.Wrapper.Topics); {
		case count > splitSize:
			t.Fatalf("%d topics in one registration", count)
		case count == splitSize:
			full++
		}
	}
	if full < 3 {
		t.Errorf("%d full parts registered, want at least the 3 of one round", full)
	}
	err := b.nameserver.Ask(func(a *harness.Asker) error {
		listed, err := a.Topics()
		if err != nil {
			return err
		}
		for i := range splitTopics {
			route, err := a.Route(splitTopic(b, i))
			want := fmt.Sprint([]harness.RouteQueues{{Broker: b.Name, Perm: 6, Read: i + 1, Write: i + 1}})
			if err != nil || route == nil || fmt.Sprint(route.Queues) != want || !slices.Contains(listed, splitTopic(b, i)) {
				return fmt.Errorf("topic %s: route %v, error %w", splitTopic(b, i), route, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// changing are the parts of a static topic's route that are made of the time and by chance.
var changing = regexp.MustCompile(`"epoch":\d+|"currIdMap":\{[^}]*\}`)

// staticAttempts: Apache's nameserver loses the mapping of a broker that happens to register while it is halfway through making
// the topic (row late-mappings of COMPATIBILITY.md), for good. It is given other chances, with other topics.
var staticAttempts = map[string]int{apache: 5, waymark: 1}

// staticTopic makes a static topic of four queues on two brokers, sends and receives through it, and returns its route.
func staticTopic(t *testing.T, nameserver string, client *harness.Session, brokers ...*tappedBroker) string {
	t.Helper()
	for attempt := range staticAttempts[nameserver] {
		topic := fmt.Sprintf("Static-%s-%d", strings.ReplaceAll(brokers[0].version, ".", "_"), attempt)
		text, err := makeStaticTopic(t, topic, brokers)
		if err != nil {
			t.Log(err)
			continue
		}
		roundTrips(t, client, topic)
		return strings.ReplaceAll(changing.ReplaceAllString(text, "<changing>"), topic, "<topic>")
	}
	t.Fatal("no static topic has all of its mappings")
	return ""
}

// makeStaticTopic makes the topic and returns its route, which has a mapping of each broker.
func makeStaticTopic(t *testing.T, topic string, brokers []*tappedBroker) (text string, err error) {
	t.Helper()
	n, version := brokers[0].nameserver, brokers[0].version
	var names []string
	for _, b := range brokers {
		names = append(names, b.Name)
	}
	out, err := shared.java.MQAdmin(shared.jars(t, version), filepath.Join(t.TempDir(), "tool"),
		"updateStaticTopic", "-t", topic, "-qn", "4", "-b", strings.Join(names, ","), "-n", n.Addr)
	if err != nil {
		t.Fatal(err)
	}
	awaitRoute(t, n, topic, func(r *harness.Route) bool { return len(r.Queues) == len(brokers) })
	err = harness.Eventually(mappingLimit, func() error {
		text = canonicalRoute(t, n, topic, brokers...)
		for _, name := range names {
			if !strings.Contains(text, fmt.Sprintf(`"bname":%q`, name)) {
				return fmt.Errorf("mqadmin says\n%s\nand the route has no mapping of %s: %s", out, name, text)
			}
		}
		return nil
	})
	return text, err
}

// mappingLimit is for a mapping that comes right behind its topic, or with the broker's next registration.
const mappingLimit = 2 * harness.RegistrationPeriod
