//go:build e2e

package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// adminStep is one command or question put to both nameservers. Both answers have to contain shows, so that two equal
// failures are no success, or to be empty when shows is; and they have to be the same.
//
// In a command, {name} stands for a value of the nameserver's own: see adminPeer.
type adminStep struct {
	do    string                           // a command that changes something: run once
	ask   string                           // a command that only shows: run until the answers are as they must be, since changes take their way
	start string                           // a command that never ends: started in a virtual machine of its own, and ended with the group
	look  func(*adminPeer) (string, error) // asks where the tool has no command to look

	file  string // a file below {home} that the command writes: read after what it prints
	shows string
	rules []harness.Rule
	keep  capture
}

// capture keeps what the group in a pattern matches in a step's answer, for later commands.
type capture struct{ name, pattern string }

func (s adminStep) String() string { return s.do + s.ask + s.start }

// command is the name of the tool's command; empty when the tool has none.
func (s adminStep) command() string {
	name, _, _ := strings.Cut(s.String(), " ")
	return name
}

// adminGroup is a row of the table of results.
type adminGroup struct {
	name  string
	steps []adminStep
}

// How long the script waits for what it must see: for a registration period, or for the start of a virtual machine on
// a slow machine. When it has waited in vain once, it waits less for the rest.
const (
	adminWaitLimit       = 3 * time.Minute
	adminFailedWaitLimit = 2 * harness.RegistrationPeriod
)

// TestMQAdmin: the admin tool prints the same on Waymark as on Apache's nameserver, each with a broker of its own.
func TestMQAdmin(t *testing.T) {
	peers := newAdminPeers(t)
	limit := adminWaitLimit
	done := map[string]bool{}
	for _, group := range adminScript {
		var commands []string // each command is named in the row of its first group
		for _, step := range group.steps {
			if name := step.command(); name != "" && !done[name] {
				done[name] = true
				commands = append(commands, name)
			}
		}
		t.Run(group.name, func(t *testing.T) {
			problems := group.run(peers, &limit)
			for i, nameserver := range nameservers {
				t.Run(nameserver, func(t *testing.T) {
					inMatrix(t, nameserver, "mqadmin", currentVersion, strings.Join(commands, ", "))
					for _, problem := range problems[i] {
						t.Error(problem)
					}
				})
			}
		})
	}
}

// run takes the steps in turn and returns what was wrong on each nameserver.
func (g adminGroup) run(peers [2]*adminPeer, limit *time.Duration) (problems [2][]string) {
	for _, step := range g.steps {
		found := step.run(peers, *limit)
		if found != [2]string{} {
			*limit = adminFailedWaitLimit
		}
		for i, problem := range found {
			if problem != "" {
				problems[i] = append(problems[i], problem)
			}
		}
	}
	for _, p := range peers {
		p.endStarted()
	}
	return problems
}

func (s adminStep) run(peers [2]*adminPeer, limit time.Duration) (problems [2]string) {
	// A change that timed out may have been made all the same: the next questions show it.
	var mayBeMade bool
	_ = harness.Eventually(limit, func() error {
		answers := s.answers(peers)
		problems = s.judge(answers)
		switch {
		case problems == [2]string{} || answers[0].err != nil || answers[1].err != nil:
		case s.do == "":
			return errNotYet
		case answers[0].timedOut() || answers[1].timedOut():
			mayBeMade = true
			return errNotYet
		case mayBeMade:
			problems = [2]string{}
		}
		return nil
	})
	return problems
}

var errNotYet = errors.New("not as it must be yet")

type adminAnswer struct {
	text string
	err  error
}

// timedOut reports that the tool gave up, which it does after 3 to 5 s: a slow machine may take longer.
func (a adminAnswer) timedOut() bool { return strings.Contains(a.text, "RemotingTimeoutException") }

// answers runs the step on both nameservers at the same time.
func (s adminStep) answers(peers [2]*adminPeer) (answers [2]adminAnswer) {
	var wait sync.WaitGroup
	for i, p := range peers {
		wait.Go(func() { answers[i].text, answers[i].err = p.answer(s) })
	}
	wait.Wait()
	return answers
}

// judge returns what is wrong with each answer. Where both are good but different, Apache's is right.
func (s adminStep) judge(answers [2]adminAnswer) (problems [2]string) {
	name := cmp.Or(s.String(), "what the tool can't show")
	for i, a := range answers {
		switch {
		case a.err != nil:
			problems[i] = fmt.Sprintf("%s: %v", name, a.err)
		case !strings.Contains(a.text, s.shows) || s.shows == "" && a.text != "":
			problems[i] = fmt.Sprintf("%s does not show %q:\n%s", name, s.shows, a.text)
		}
	}
	if problems == [2]string{} && answers[0].text != answers[1].text {
		problems[1] = fmt.Sprintf("%s differs\n--- on %s\n%s\n--- on %s\n%s",
			name, nameservers[0], answers[0].text, nameservers[1], answers[1].text)
	}
	return problems
}
