//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

const (
	orderTopic  = "OrderTopic"
	wholeOrder  = guardedName + ":4;" + zonedName + ":4"
	narrowOrder = guardedName + ":2;" + zonedName + ":1"
)

// orderSteps are the life of an order topic, as the admin tool makes it.
var orderSteps = []struct {
	name    string
	does    string // for the table of results
	command []string
	says    []string // by the tool
	conf    string   // in the route from then on
	queues  string   // that producers then see, written as conf is
}{
	{
		name:    "created",
		does:    "updateTopic -o true",
		command: []string{"updateTopic", "-c", "DefaultCluster", "-r", "4", "-w", "4", "-o", "true"},
		says:    []string{"set cluster orderConf. isOrder=true, orderConf=[", guardedName + ":4", zonedName + ":4"},
		conf:    wholeOrder, queues: wholeOrder,
	}, {
		name:    "narrowed",
		does:    "updateOrderConf -m put",
		command: []string{"updateOrderConf", "-m", "put", "-v", narrowOrder},
		says:    []string{"update orderConf success. topic=[" + orderTopic + "], orderConf=[" + narrowOrder + "]"},
		conf:    narrowOrder, queues: narrowOrder,
	}, {
		name:    "deleted",
		does:    "updateOrderConf -m delete",
		command: []string{"updateOrderConf", "-m", "delete"},
		says:    []string{"delete orderConf success. topic=[" + orderTopic + "]"},
		queues:  wholeOrder,
	},
}

// testOrderTopics: the route of an order topic has the order configuration; producers keep to the queues that it names,
// and each key's messages arrive in order.
func testOrderTopics(t *testing.T, nameserver string, s *strictCluster) {
	tool := signingTool(t)
	for _, step := range orderSteps {
		t.Run(step.name, func(t *testing.T) {
			inMatrix(t, nameserver, "mqadmin", currentVersion, "signed, order topics: "+step.does)
			out, err := tool.Run(append(slices.Clone(step.command), "-t", orderTopic, "-n", s.nameserver.Addr)...)
			if err != nil {
				t.Fatal(err)
			}
			for _, says := range step.says {
				if !strings.Contains(out, says) {
					t.Errorf("the tool doesn't say %q:\n%s", says, out)
				}
			}
			s.awaitOrderRoute(t, step.conf)
		})
		for _, c := range s.clients {
			t.Run(step.name+" "+c.version, func(t *testing.T) {
				c.inMatrix(t, nameserver, "order topic: producers keep to its queues, each key's messages arrive in order")
				c.do(t, "order", signed(s.nameserver.Addr), orderTopic, step.queues)
			})
		}
	}
}

// signingTool is an admin tool that signs its requests.
func signingTool(t *testing.T) *harness.AdminShell {
	t.Helper()
	home := filepath.Join(t.TempDir(), "tool")
	conf := filepath.Join(home, "conf")
	if err := os.MkdirAll(conf, 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("accessKey: %s\nsecretKey: %s\n", strictUser, strictSecret)
	if err := os.WriteFile(filepath.Join(conf, "tools.yml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	jars := shared.jars(t, currentVersion)
	tool := harness.NewAdminShell(shared.java, jars, shared.program(t, jars, "AdminShell.java"), home)
	t.Cleanup(tool.Kill)
	return tool
}

// awaitOrderRoute waits until the whole route of the order topic is, on every nameserver, what it has to be with an
// order configuration.
func (s *strictCluster) awaitOrderRoute(t *testing.T, conf string) {
	t.Helper()
	if conf != "" {
		conf = fmt.Sprintf(`"orderTopicConf":%q,`, conf)
	}
	const broker = `{"brokerAddrs":{"0":%q},"brokerName":%q,"cluster":"DefaultCluster","enableActingMaster":false%s}`
	const queues = `{"brokerName":%q,"perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}`
	want := fmt.Sprintf(`{"brokerDatas":[`+broker+`,`+broker+`],"filterServerTable":{},%s"queueDatas":[`+queues+`,`+queues+`]}`,
		s.guarded.Addr, guardedName, "", s.zoned.Addr, zonedName, fmt.Sprintf(`,"zoneName":%q`, strictZone),
		conf, guardedName, zonedName)
	want, err := harness.Canonical([]byte(want))
	if err != nil {
		t.Fatal(err)
	}
	err = harness.Eventually(strictLimit, func() error {
		return s.nameserver.Ask(func(a *harness.Asker) error {
			body, err := a.RouteBytes(orderTopic)
			if err != nil {
				return err
			}
			got, err := harness.Canonical(body)
			// The tool lists the brokers of a cluster in no order.
			got = strings.Replace(got, zonedName+":4;"+guardedName+":4", wholeOrder, 1)
			if err == nil && got != want {
				err = fmt.Errorf("route\n%s\nwant\n%s", got, want)
			}
			return err
		})
	})
	if err != nil {
		t.Error(err)
	}
}
