//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// adminPeer is a nameserver with a broker of its own, and the admin tool that looks at both.
type adminPeer struct {
	nameserver *harness.Nameserver
	broker     *harness.Broker
	jars       harness.Jars
	home       string // of the tool
	shell      *harness.AdminShell
	normaliser *harness.Normaliser
	values     map[string]string // what {name} in a command stands for
	started    map[string]*harness.EndlessMQAdmin
}

// adminBroker turns on what some of the commands need.
var adminBroker = []string{
	"traceTopicEnable=true",
	"enableLmq=true",
	"enableMultiDispatch=true",
	"timerWheelEnable=true", // without, a 5.5.0 broker can't delete a topic
	"timerRocksDBEnable=true",
	"authenticationMetadataProvider=org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider",
	"authorizationMetadataProvider=org.apache.rocketmq.auth.authorization.provider.LocalAuthorizationMetadataProvider",
}

// newAdminPeers starts both nameservers with brokers that no other test uses: the script changes too much.
func newAdminPeers(t *testing.T) (peers [2]*adminPeer) {
	t.Helper()
	jars := shared.jars(t, currentVersion)
	classes := shared.program(t, jars, "AdminShell.java")
	var errs [2]error
	var wait sync.WaitGroup
	for i, name := range nameservers {
		nameserver := newNameserver(t, programOf(t, name))
		broker := newBroker(t, harness.BrokerConfig{
			Jars: jars, Name: "broker-a", Nameservers: []*harness.Nameserver{nameserver}, Properties: adminBroker,
		})
		home := filepath.Join(t.TempDir(), "tool")
		peers[i] = &adminPeer{
			nameserver: nameserver, broker: broker, jars: jars, home: home,
			shell:      harness.NewAdminShell(shared.java, jars, classes, home),
			normaliser: harness.NewNormaliser(nameserver, broker, home),
			values:     map[string]string{"nameserver": nameserver.Addr, "broker": broker.Addr, "home": home, "greeting": "hello world"},
			started:    map[string]*harness.EndlessMQAdmin{},
		}
		t.Cleanup(peers[i].shell.Kill)
		wait.Go(func() { errs[i] = broker.Start() })
	}
	wait.Wait()
	for i, p := range peers {
		if errs[i] == nil {
			errs[i] = p.writeLists()
		}
		if errs[i] != nil {
			t.Fatal(errs[i])
		}
	}
	return peers
}

// writeLists writes the files that updateTopicList and updateSubGroupList read.
func (p *adminPeer) writeLists() error {
	const topics = `[{"topicName":"ListedTopicA","readQueueNums":2,"writeQueueNums":2,"perm":6},
{"topicName":"ListedTopicB","readQueueNums":1,"writeQueueNums":1,"perm":4}]`
	const groups = `[{"groupName":"ListedGroupA","retryMaxTimes":3},{"groupName":"ListedGroupB","consumeEnable":false}]`
	if err := os.MkdirAll(p.home, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(p.home, "topics.json"), []byte(topics), 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(p.home, "groups.json"), []byte(groups), 0o644)
}

// answer runs a step and returns what it tells, made comparable.
func (p *adminPeer) answer(s adminStep) (string, error) {
	text, err := p.run(s)
	if err != nil {
		return "", err
	}
	if s.file != "" {
		// Without the file the output tells why.
		content, _ := os.ReadFile(filepath.Join(p.home, s.file))
		text += "\n" + string(content)
	}
	if s.keep.name != "" {
		if found := regexp.MustCompile(s.keep.pattern).FindStringSubmatch(text); found != nil {
			p.values[s.keep.name] = found[1]
		}
	}
	return p.normaliser.Normalise(text, s.rules...), nil
}

func (p *adminPeer) run(s adminStep) (string, error) {
	switch {
	case s.look != nil:
		return s.look(p)
	case s.start != "":
		return p.outputOfStarted(s.start)
	}
	return p.shell.Run(p.arguments(s.String())...)
}

// arguments splits a command into words, and puts its values in.
func (p *adminPeer) arguments(command string) []string {
	words := strings.Fields(command)
	for i, word := range words {
		for name, value := range p.values {
			word = strings.ReplaceAll(word, "{"+name+"}", value)
		}
		words[i] = word
	}
	return append(words, "-n", p.nameserver.Addr)
}

// outputOfStarted starts a command when it is asked for the first time, and returns what it has printed so far. One
// that has ended, as on a slow machine, is started anew by the next question.
func (p *adminPeer) outputOfStarted(command string) (string, error) {
	running := p.started[command]
	if running == nil {
		home, err := os.MkdirTemp(p.home, "started-")
		if err != nil {
			return "", err
		}
		if running, err = shared.java.StartMQAdmin(p.jars, home, p.arguments(command)...); err != nil {
			return "", err
		}
		p.started[command] = running
	}
	output, err := running.Output()
	if !running.Running() {
		delete(p.started, command)
	}
	return output, err
}

func (p *adminPeer) endStarted() {
	for command, running := range p.started {
		running.Kill()
		delete(p.started, command)
	}
}
