//go:build e2e

package e2e

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
	"github.com/waymark-mq/waymark/nsctl"
)

// TestNsctlDiff: a real broker that registers with Waymark and with Apache's nameserver makes them say the same; a KV value and a
// topic that only one of them knows are named.
func TestNsctlDiff(t *testing.T) {
	t.Parallel()
	ours, theirs := newNameserver(t, programOf(t, waymark)), newNameserver(t, programOf(t, apache))
	startAll(t, brokerOf(t, currentVersion, "broker-a", ours, theirs))
	diff := func() (code int, out string) {
		var b bytes.Buffer
		code = nsctl.Run(t.Context(), nsctl.Process{Args: []string{"diff", ours.Addr, theirs.Addr}, Getenv: os.Getenv, Stdout: &b, Stderr: &b})
		return code, b.String()
	}
	await := func(want int, named ...string) {
		t.Helper()
		err := harness.Eventually(time.Minute, func() error {
			code, out := diff()
			for _, name := range named {
				if code == want && !strings.Contains(out, name) {
					code = -1
				}
			}
			if code != want {
				return fmt.Errorf("exit %d, want %d and %q named: %s", code, want, named, out)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	await(0)
	putAll(t, ours, "ORDER_TOPIC_CONFIG", map[string]string{"Ordered": "broker-a:4"})
	if err := theirs.Ask(func(a *harness.Asker) error {
		_, err := a.Ask(deleteTopic, map[string]string{"topic": "TBW102"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	await(1, "key Ordered", "TBW102")
}

// deleteTopic is the request code of DELETE_TOPIC_IN_NAMESRV.
const deleteTopic = 216
