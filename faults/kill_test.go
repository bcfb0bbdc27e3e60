//go:build faults && linux

package faults

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

const (
	killRounds  = 500
	killTime    = 18 * time.Second      // no round starts later
	longestLife = 80 * time.Millisecond // from the first acknowledgement of a round to the kill
	fillerBytes = 128 << 10             // makes saving take long enough to be met by a kill
)

// counter is something that a nameserver counts up for its clients and must not
// forget: what was acknowledged is there after any end of the process.
type counter struct {
	set  func(n int) request
	read func(c *client) int
}

func TestKilledWhileSavingKV(t *testing.T) {
	s := newSite(t)
	filler, err := json.Marshal(map[string]any{"configTable": map[string]any{"FILLER": map[string]string{"x": strings.Repeat("x", fillerBytes)}}})
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, s.kvFile, string(filler))
	count(t, s, counter{
		set: func(n int) request {
			return ask(codec.RequestPutKVConfig, "namespace", "NS", "key", "n", "value", strconv.Itoa(n))
		},
		read: func(c *client) int {
			a := c.want(codec.ResponseSuccess, ask(codec.RequestGetKVConfig, "namespace", "FILLER", "key", "x"))
			if len(a.ExtFields["value"]) != fillerBytes {
				t.Fatalf("the rest of the file is gone: %d bytes", len(a.ExtFields["value"]))
			}
			a = c.call(ask(codec.RequestGetKVConfig, "namespace", "NS", "key", "n"))
			if a.Code == codec.ResponseQueryNotFound {
				return 0
			}
			return number(t, a.ExtFields["value"])
		},
	})
}

func TestKilledWhileSavingSettings(t *testing.T) {
	s := newSite(t, "counter=0", "filler="+strings.Repeat("x", fillerBytes))
	count(t, s, counter{
		set: func(n int) request {
			r := ask(codec.RequestUpdateNamesrvConfig)
			r.body = fmt.Sprintf("counter=%d\nenableTopicList=%v\n", n, n%2 == 0)
			return r
		},
		read: func(c *client) int {
			values := map[string]string{}
			for line := range strings.Lines(c.want(codec.ResponseSuccess, ask(codec.RequestGetNamesrvConfig)).body) {
				name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
				values[name] = value
			}
			n := number(t, values["counter"])
			if values["enableTopicList"] != strconv.FormatBool(n%2 == 0) || len(values["filler"]) != fillerBytes {
				t.Fatalf("counter %d, enableTopicList %s, filler of %d bytes: not one request's work", n, values["enableTopicList"], len(values["filler"]))
			}
			return n
		},
	})
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// count counts up, kills the nameserver at a random moment, starts it again and
// looks at the counter, round after round.
func count(t *testing.T, s *site, c counter) {
	t.Helper()
	const seed = 17
	random := rand.New(rand.NewPCG(seed, 0))
	acknowledged, sent, rounds := 0, 0, 0
	for end := time.Now().Add(killTime); rounds < killRounds && time.Now().Before(end); rounds++ {
		p := s.start()
		client := s.dial()
		acknowledged = check(t, p, c.read(client), acknowledged, sent)
		sent = acknowledged

		delay := time.Duration(random.Int64N(int64(longestLife)))
		var killing *time.Timer
		for {
			sent++
			a, err := client.tryCall(c.set(sent), waitLimit)
			if err != nil && killing != nil {
				break
			}
			if err != nil || a.Code != codec.ResponseSuccess {
				t.Fatalf("round %d: answer %+v, error %v", rounds, a, err)
			}
			acknowledged++
			if killing == nil { // one for sure
				killing = time.AfterFunc(delay, func() { p.signal(syscall.SIGKILL) })
			}
		}
		p.kill()
	}
	p := s.start()
	check(t, p, c.read(s.dial()), acknowledged, sent)
	t.Logf("seed %d: %d rounds, counted to %d", seed, rounds, acknowledged)
}

// check returns n, what the nameserver remembers after a kill.
func check(t *testing.T, p *process, n, acknowledged, sent int) int {
	t.Helper()
	if n < acknowledged || n > sent {
		t.Fatalf("%d after the kill; acknowledged were %d, sent %d", n, acknowledged, sent)
	}
	if p.stderr.has("backup") {
		t.Fatal("the kill left a broken file behind")
	}
	return n
}
