//go:build e2e

package e2e

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// leftOut are the commands of the admin tool that the script doesn't run, and why.
var leftOut = map[string]string{
	"addBroker":               "needs a broker container",
	"removeBroker":            "needs a broker container",
	"getSyncStateSet":         "needs a controller",
	"getControllerMetaData":   "needs a controller",
	"getControllerConfig":     "needs a controller",
	"updateControllerConfig":  "needs a controller",
	"electMaster":             "needs a controller",
	"cleanBrokerMetadata":     "needs a controller",
	"getBrokerEpoch":          "needs a broker in controller mode",
	"dumpCompactionLog":       "reads a file, asks neither nameserver nor broker",
	"exportMetadataInRocksDB": "reads files, asks neither nameserver nor broker",
}

// listed are the lines of the tool's own list of commands.
var listed = regexp.MustCompile(`(?m)^ {3}(\w+) {2,}\S`)

// TestMQAdminCommands: every command that the tool lists is in the script or left out for a reason.
func TestMQAdminCommands(t *testing.T) {
	list, err := shared.java.MQAdmin(shared.jars(t, currentVersion), filepath.Join(t.TempDir(), "tool"))
	if err != nil {
		t.Fatal(err)
	}
	run := map[string]bool{}
	for _, group := range adminScript {
		for _, step := range group.steps {
			run[step.command()] = true
		}
	}
	commands := listed.FindAllStringSubmatch(list, -1)
	if len(commands) < 90 {
		t.Errorf("the tool lists %d commands:\n%s", len(commands), list)
	}
	for _, match := range commands {
		name := match[1]
		if run[name] == (leftOut[name] != "") {
			t.Errorf("%s: run %v, left out for %q", name, run[name], leftOut[name])
		}
		delete(run, name)
	}
	delete(run, "") // what the tool has no command for
	if len(run) > 0 {
		t.Errorf("the tool doesn't list %v", run)
	}
	t.Logf("%d commands, %d left out", len(commands), len(leftOut))
}

// TestAdminShell: the shell prints what the tool prints in a virtual machine of its own, also where that one ends.
func TestAdminShell(t *testing.T) {
	jars := shared.jars(t, currentVersion)
	home := filepath.Join(t.TempDir(), "tool")
	shell := harness.NewAdminShell(shared.java, jars, shared.program(t, jars, "AdminShell.java"), home)
	t.Cleanup(shell.Kill)
	port, err := harness.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	frames := regexp.MustCompile(`(?m)^\t(at .*|\.\.\. \d+ more)\n`)
	for _, command := range [][]string{
		{},
		{"updateTopic", "-t", "AdminTopic"},
		{"topicRoute", "-t", "AdminTopic", "-n", harness.Loopback(port)},
	} {
		alone, err := shared.java.MQAdmin(jars, home, command...)
		if err != nil {
			t.Fatal(err)
		}
		inShell, err := shell.Run(command...)
		if err != nil {
			t.Fatal(err)
		}
		if inShell, alone = frames.ReplaceAllString(inShell, ""), frames.ReplaceAllString(alone, ""); inShell != alone {
			t.Errorf("%s\n--- in the shell\n%s\n--- alone\n%s", strings.Join(command, " "), inShell, alone)
		}
	}
}
