//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// groupBatch is how many messages one step sends. A consumer that is held has taken few of them.
const groupBatch = 400

// counts are what the client knows about its messages.
func (g *group) counts(t *testing.T) counts { return g.numbers(t, "counts", "counts ") }

// numbers gives the client a command and returns the numbers of its answer.
func (g *group) numbers(t *testing.T, command, prefix string) counts {
	t.Helper()
	c, err := parseCounts(g.ask(t, command, prefix))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// ask gives the client a command and returns its answer.
func (g *group) ask(t *testing.T, command, prefix string) string {
	t.Helper()
	line, err := g.client.Ask(command, prefix, stepLimit)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// send sends messages, none of which may fail, and returns how many each broker name took.
func (g *group) send(t *testing.T, count int) counts {
	t.Helper()
	taken := g.numbers(t, "send "+strconv.Itoa(count), "sent ")
	if taken["failed"] > 0 {
		t.Fatalf("of %d sends %d failed", count, taken["failed"])
	}
	return taken
}

// sendToBoth sends until both broker names have taken messages.
func (g *group) sendToBoth(t *testing.T) {
	t.Helper()
	err := harness.Eventually(stepLimit, func() error {
		if taken := g.send(t, groupBatch/4); taken[groupName] == 0 || taken[otherName] == 0 {
			return fmt.Errorf("messages went to %v only", taken)
		}
		return nil
	}, g.client.Process())
	if err != nil {
		t.Fatal(err)
	}
}

// awaitReceived waits until every message sent so far has been received.
func (g *group) awaitReceived(t *testing.T) {
	t.Helper()
	err := harness.Eventually(stepLimit, func() error {
		if now := g.counts(t); now["missing"] > 0 {
			return fmt.Errorf("not all messages received: %v", now)
		}
		return nil
	}, g.client.Process())
	if err != nil {
		t.Fatal(err)
	}
}

// awaitReplicated waits until each slave has all that the master has, and has indexed it for consumers.
func (g *group) awaitReplicated(t *testing.T) {
	t.Helper()
	for _, slave := range g.slaves {
		err := harness.Eventually(stepLimit, func() error {
			master, err := runtimeInfo(g.master)
			if err != nil {
				return err
			}
			has, err := runtimeInfo(slave)
			if err != nil {
				return err
			}
			if has["commitLogMaxOffset"] != master["commitLogMaxOffset"] || has["dispatchBehindBytes"] != "0" {
				return fmt.Errorf("log of slave %d ends at %s, %s bytes of it not indexed; the master's ends at %s",
					slave.ID, has["commitLogMaxOffset"], has["dispatchBehindBytes"], master["commitLogMaxOffset"])
			}
			return nil
		}, g.master.Process(), slave.Process())
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Requests to a broker, and its answer to one that it could serve.
const (
	brokerCreateTopic = 17
	brokerAllTopics   = 21
	brokerRuntimeInfo = 28
	brokerHAStatus    = 907

	brokerSuccess = 0
)

// askBroker asks a broker over a connection of its own.
func askBroker(b *harness.Broker, code int, fields map[string]string) (*harness.Answer, error) {
	asker, err := harness.Dial(b.Addr)
	if err != nil {
		return nil, err
	}
	defer asker.Close()
	answer, err := asker.Ask(code, fields)
	if err == nil && answer.Code != brokerSuccess {
		err = fmt.Errorf("broker %s %d: request %d: code %d, remark %q", b.Name, b.ID, code, answer.Code, answer.Remark)
	}
	return answer, err
}

// createTopic makes a topic of four queues on a broker by the request that the admin tool sends.
func createTopic(t *testing.T, b *harness.Broker, topic string) {
	t.Helper()
	_, err := askBroker(b, brokerCreateTopic, map[string]string{
		"topic": topic, "defaultTopic": "TBW102", "readQueueNums": "4", "writeQueueNums": "4", "perm": "6",
		"topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
	})
	if err != nil {
		t.Fatal(err)
	}
}

// awaitTopicAt waits until a slave knows a topic, which it asks its master for.
func awaitTopicAt(t *testing.T, slave *harness.Broker, topic string) {
	t.Helper()
	err := harness.Eventually(stepLimit, func() error {
		answer, err := askBroker(slave, brokerAllTopics, nil)
		if err == nil && !strings.Contains(string(answer.Body), strconv.Quote(topic)) {
			err = fmt.Errorf("slave %d doesn't know topic %s", slave.ID, topic)
		}
		return err
	}, slave.Process())
	if err != nil {
		t.Fatal(err)
	}
}

// runtimeInfo is what a broker tells about its store, by the names of brokerStatus.
func runtimeInfo(b *harness.Broker) (map[string]string, error) {
	answer, err := askBroker(b, brokerRuntimeInfo, nil)
	if err != nil {
		return nil, err
	}
	var body struct {
		Table map[string]string `json:"table"`
	}
	err = json.Unmarshal(answer.Body, &body)
	return body.Table, err
}

// replicatesFrom is the address from which a slave of 5.x takes its master's log.
func replicatesFrom(slave *harness.Broker) (string, error) {
	answer, err := askBroker(slave, brokerHAStatus, nil)
	if err != nil {
		return "", err
	}
	var body struct {
		Client struct {
			MasterAddr string `json:"masterAddr"`
		} `json:"haClientRuntimeInfo"`
	}
	err = json.Unmarshal(answer.Body, &body)
	return body.Client.MasterAddr, err
}
