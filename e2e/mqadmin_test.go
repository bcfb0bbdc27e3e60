//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// adminStep is one question put to both nameservers in turn of the script. Both answers have to contain shows, so that
// two equal failures are no success.
type adminStep struct {
	name      string
	ask       func(s *stack, jars harness.Jars, home string) (string, error)
	shows     string
	unordered bool
}

// adminScript is one life of a topic and of a KV pair. Steps that change something are followed by one that shows it.
var adminScript = []adminStep{
	{name: "clusterList", ask: mqadmin("clusterList"), shows: "DefaultCluster broker-a 0 <broker> V5_5_0"},
	{name: "topicList", ask: mqadmin("topicList"), shows: "TBW102", unordered: true},
	{name: "topicList with clusters", ask: mqadmin("topicList", "-c"), shows: "DefaultCluster TBW102", unordered: true},
	{name: "updateTopic", ask: mqadmin("updateTopic", "-c", "DefaultCluster", "-t", "AdminTopic", "-r", "4", "-w", "3"),
		shows: "create topic to <broker> success."},
	{name: "topicRoute", ask: topicRoute, shows: `"writeQueueNums":3`},
	{name: "wipeWritePerm", ask: mqadmin("wipeWritePerm", "-b", "broker-a"), shows: "in name server[<nameserver>] OK, "},
	{name: "topicRoute after wipeWritePerm", ask: topicRoute, shows: `"perm":4`},
	{name: "addWritePerm", ask: mqadmin("addWritePerm", "-b", "broker-a"), shows: "in name server[<nameserver>] OK, "},
	{name: "topicRoute after addWritePerm", ask: topicRoute, shows: `"perm":6`},
	{name: "updateKvConfig", ask: mqadmin("updateKvConfig", "-s", "e2e", "-k", "greeting", "-v", "hello world"),
		shows: "create or update kv config to namespace success."},
	{name: "value after updateKvConfig", ask: kvGreeting, shows: `"hello world" true`},
	{name: "getNamesrvConfig", ask: mqadmin("getNamesrvConfig"), shows: "kvConfigPath = <home>/namesrv/kvConfig.json"},
	{name: "deleteKvConfig", ask: mqadmin("deleteKvConfig", "-s", "e2e", "-k", "greeting"),
		shows: "delete kv config from namespace success."},
	{name: "value after deleteKvConfig", ask: kvGreeting, shows: `"" false`},
	{name: "deleteTopic", ask: mqadmin("deleteTopic", "-c", "DefaultCluster", "-t", "AdminTopic"),
		shows: "delete topic [AdminTopic] from NameServer success."},
	{name: "topicRoute after deleteTopic", ask: topicRoute,
		shows: "CODE: 17 DESC: No topic route info in name server for the topic: AdminTopic"},
	{name: "topicList after deleteTopic", ask: mqadmin("topicList"), shows: "TBW102", unordered: true},
}

var topicRoute = mqadmin("topicRoute", "-t", "AdminTopic")

func mqadmin(args ...string) func(*stack, harness.Jars, string) (string, error) {
	return func(s *stack, jars harness.Jars, home string) (string, error) {
		return shared.java.MQAdmin(jars, home, append(args, "-n", s.nameserver.Addr)...)
	}
}

// kvGreeting looks where the admin tool has no command to look.
func kvGreeting(s *stack, _ harness.Jars, _ string) (out string, err error) {
	err = s.nameserver.Ask(func(a *harness.Asker) error {
		value, ok, err := a.KVConfig("e2e", "greeting")
		out = fmt.Sprintf("%q %v", value, ok)
		return err
	})
	return out, err
}

// TestMQAdmin: the admin tool prints the same on Waymark as on Apache's nameserver, each with a broker of its own.
func TestMQAdmin(t *testing.T) {
	jars := shared.jars(t, currentVersion)
	stacks := startBoth(t)
	homes := [2]string{filepath.Join(t.TempDir(), "tool"), filepath.Join(t.TempDir(), "tool")}
	for _, step := range adminScript {
		var outputs [2]string
		var errs [2]error
		var wait sync.WaitGroup
		for i, s := range stacks {
			wait.Go(func() {
				outputs[i], errs[i] = step.ask(s, jars, homes[i])
				outputs[i] = harness.NewNormaliser(s.nameserver, s.broker).Normalise(outputs[i], step.unordered)
			})
		}
		wait.Wait()
		for i, nameserver := range nameservers {
			if errs[i] != nil {
				t.Errorf("%s on %s: %v", step.name, nameserver, errs[i])
			}
			if !strings.Contains(outputs[i], step.shows) {
				t.Errorf("%s on %s does not show %q:\n%s", step.name, nameserver, step.shows, outputs[i])
			}
		}
		if outputs[0] != outputs[1] {
			t.Errorf("%s differs\n--- on %s\n%s\n--- on %s\n%s", step.name, nameservers[0], outputs[0], nameservers[1], outputs[1])
		}
	}
}

// startBoth starts the stacks of both nameservers at the same time.
func startBoth(t *testing.T) [2]*stack {
	t.Helper()
	var stacks [2]*stack
	t.Run("start", func(t *testing.T) {
		onEach(t, func(t *testing.T, nameserver string) {
			for i, name := range nameservers {
				if name == nameserver {
					stacks[i] = stackOf(t, nameserver, currentVersion)
				}
			}
		})
	})
	if t.Failed() {
		t.FailNow()
	}
	return stacks
}
