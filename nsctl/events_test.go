package nsctl

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// chronicle is the HTTP side of one process after another, as events -f sees it.
type chronicle struct {
	mu             sync.Mutex // an answer that is broken off tells nobody when it has ended
	process        string
	oldest, newest int
	gone           bool // it answers nothing
	anew           bool // each answer is of another process
	asked          int  // for events
}

func (c *chronicle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.gone {
		panic(http.ErrAbortHandler)
	}
	if strings.HasSuffix(r.URL.Path, "/server") {
		_, _ = io.WriteString(w, `{"state":"serving","address":"127.0.0.1:1","startedAt":"2026-01-02T03:04:05Z"}`)
		return
	}
	if c.asked++; c.anew {
		c.process = fmt.Sprint("p", c.asked)
	}
	after, _ := strconv.Atoi(r.FormValue("after"))
	first := max(after+1, c.oldest)
	var events []string
	for n := first; n <= c.newest; n++ {
		events = append(events, fmt.Sprintf(`{"seq":%d,"time":"2026-01-02T03:04:05Z","kind":"changed","text":"%s%[1]d"}`, n, c.process))
	}
	_, _ = fmt.Fprintf(w, `{"events":[%s],"next":%d,"oldest":%d,"newest":%[2]d,"missed":%[4]d,"process":%[5]q}`, strings.Join(events, ","), c.newest, c.oldest, first-after-1, c.process)
}

// follow runs events -f until the steps are done, one in each pause, and returns how long the pauses were.
func follow(t *testing.T, c *chronicle, steps ...func()) (result, []time.Duration) {
	t.Helper()
	side := serveSide(t, c.ServeHTTP)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	var pauses []time.Duration
	got := runPausing(ctx, func(ctx context.Context, d time.Duration) error {
		if pauses = append(pauses, d); len(pauses) > len(steps) {
			cancel() // as an interrupt does
			return ctx.Err()
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		steps[len(pauses)-1]()
		return nil
	}, "events", "-f", "-n", "127.0.0.1:1", "--admin", side)
	return got, pauses
}

// Each event is told once, over a gap, a restart and a time without the server, and an interrupt is the end that the operator meant.
func TestEventsFollow(t *testing.T) {
	c := &chronicle{process: "a", oldest: 1, newest: 2}
	got, pauses := follow(t, c,
		func() { c.newest = 3 },
		func() {},
		func() { c.oldest, c.newest = 6, 7 },
		func() { c.gone = true },
		func() {},
		func() {},
		func() { c.gone, c.newest = false, 8 },
		func() { c.process, c.oldest, c.newest = "b", 1, 9 },
		func() { c.newest = 10 },
	)
	var told []string
	for line := range strings.Lines(got.stdout) {
		_, text, _ := strings.Cut(line, "changed: ")
		told = append(told, strings.TrimSpace(text))
	}
	if want := "a1 a2 a3 a6 a7 a8 b1 b2 b3 b4 b5 b6 b7 b8 b9 b10"; strings.Join(told, " ") != want || got.code != exitOK {
		t.Errorf("exit %d, %q; want %q", got.code, told, want)
	}
	const notes = `nsctl: 2 events are missing here: the nameserver had forgotten them
nsctl: <side>: EOF; trying on
nsctl: it answers again
nsctl: the nameserver was started anew
`
	if stderr := ports.ReplaceAllString(got.stderr, "<side>"); stderr != notes {
		t.Errorf("notes\n%s\nwant\n%s", stderr, notes)
	}
	if want := fmt.Sprint([]time.Duration{1e9, 1e9, 1e9, 1e9, 2e9, 4e9, 8e9, 1e9, 1e9, 1e9}); fmt.Sprint(pauses) != want {
		t.Errorf("pauses %v, want %v", pauses, want)
	}
}

// A server that answers as another process each time, or that always has more, isn't asked without a pause.
func TestEventsFollowDoesNotSpin(t *testing.T) {
	c := &chronicle{process: "a", oldest: 1, newest: 2, anew: true}
	nothing := func() {}
	got, pauses := follow(t, c, nothing, nothing, nothing, nothing)
	if got.code != exitOK || c.asked > 1+2*len(pauses) || strings.Count(got.stderr, "\n") != 1 || !strings.Contains(got.stderr, "more than one behind this address") {
		t.Errorf("%d requests, pauses %v, %+v", c.asked, pauses, got)
	}
	asked := 0
	side := serveSide(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/server") {
			_, _ = io.WriteString(w, `{"state":"serving","address":"127.0.0.1:1","startedAt":"2026-01-02T03:04:05Z"}`)
			return
		}
		asked++
		_, _ = fmt.Fprintf(w, `{"events":[],"next":%d,"newest":1000000,"process":"p"}`, 100+asked)
	})
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	runPausing(ctx, func(ctx context.Context, _ time.Duration) error {
		cancel()
		return ctx.Err()
	}, "events", "-f", "-n", "127.0.0.1:1", "--admin", side, "--last", "1000000")
	if asked != 2 {
		t.Errorf("%d requests before the first pause", asked)
	}
	asked = 0
	if got := run(t, "events", "-n", "127.0.0.1:1", "--admin", side, "--last", "1000000"); got.code != exitFailed || !strings.Contains(got.stderr, "always more events") || asked != 1+maxEventPages {
		t.Errorf("%d requests, %+v", asked, got)
	}
}

// What is interrupted before it could be told is no success; who watches has seen enough.
func TestInterrupt(t *testing.T) {
	a, b := start(t), start(t)
	b.register("broker-a", "Orders")
	for _, tt := range []struct {
		args []string
		code int
	}{
		{[]string{"top", "-n", a.Addr(), "--admin", a.side}, exitOK},
		{[]string{"events", "-f", "-n", a.Addr(), "--admin", a.side}, exitOK},
		{[]string{"diff", a.Addr(), b.Addr()}, exitFailed},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		got := runPausing(ctx, func(ctx context.Context, _ time.Duration) error {
			cancel()
			return ctx.Err()
		}, tt.args...)
		if got.code != tt.code || (tt.code == exitFailed) != strings.Contains(got.stderr, "interrupted") {
			t.Errorf("%q: %+v", tt.args, got)
		}
	}
}

// Events are told from the last so many on, filtered.
func TestEvents(t *testing.T) {
	a := start(t)
	a.register("broker-a", "Orders")
	a.putKV("k", "v")
	got := run(t, "events", "-n", a.Addr(), "--admin", a.side)
	if lines := strings.Split(strings.TrimSpace(got.stdout), "\n"); got.code != 0 || len(lines) != 2 || !strings.Contains(lines[0], "#1 registered: ") ||
		!strings.Contains(lines[0], "broker=broker-a") || !strings.Contains(lines[1], "#2 kv_put: ") {
		t.Errorf("%+v", got)
	}
	if got := run(t, "events", "-n", a.Addr(), "--admin", a.side, "--last", "1", "-o", "json"); strings.Count(got.stdout, "\n") != 1 || !strings.Contains(got.stdout, `"kv_put"`) {
		t.Errorf("%+v", got)
	}
	if got := run(t, "events", "-n", a.Addr(), "--admin", a.side, "--kind", "registered"); strings.Count(got.stdout, "\n") != 1 {
		t.Errorf("%+v", got)
	}
	if got := run(t, "events", "-n", a.Addr(), "--admin", a.side, "--kind", "nope"); got.code != exitFailed || !strings.Contains(got.stderr, "unknown kind") {
		t.Errorf("%+v", got)
	}
}
