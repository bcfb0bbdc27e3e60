package peers

import (
	"bytes"
	"context"
	"log"
	"log/slog"
	"sync"
	"time"
)

// memberLog gives memberlist's lines to slog: what it warns of as warnings, one in ten seconds at most, the rest for debugging. Peers bring most of
// them about.
type memberLog struct {
	to   *slog.Logger
	rate *rate
}

// rate lets one of a kind through in ten seconds, and counts the others.
type rate struct {
	mu      sync.Mutex
	next    map[string]time.Time
	skipped map[string]int
}

const logEvery = 10 * time.Second

func newMemberLog(to *slog.Logger) memberLog {
	return memberLog{to, &rate{next: map[string]time.Time{}, skipped: map[string]int{}}}
}

// logger is for memberlist.
func (l memberLog) logger() *log.Logger { return log.New(l, "", 0) }

// Write takes a line of memberlist's.
func (l memberLog) Write(line []byte) (int, error) {
	text := bytes.TrimSpace(line)
	level := slog.LevelDebug
	for _, prefix := range []string{"[WARN] ", "[ERR] "} {
		if bytes.HasPrefix(text, []byte(prefix)) {
			level = slog.LevelWarn
			text = text[len(prefix):]
		}
	}
	const most = 500
	text = bytes.TrimPrefix(text[:min(len(text), most)], []byte("[DEBUG] "))
	if level == slog.LevelDebug {
		l.to.Debug(string(text))
		return len(line), nil
	}
	l.limited("peers: memberlist", "says", string(text))
	return len(line), nil
}

// limited warns, unless it has warned of the same within ten seconds. The message is one of this package's own, so there are few.
func (l memberLog) limited(message string, args ...any) {
	skipped, ok := l.rate.allow(message, time.Now())
	if !ok {
		return
	}
	if skipped > 0 {
		args = append(args, "leftOut", skipped)
	}
	l.to.Log(context.Background(), slog.LevelWarn, message, args...)
}

func (r *rate) allow(what string, now time.Time) (skipped int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Before(r.next[what]) {
		r.skipped[what]++
		return 0, false
	}
	skipped = r.skipped[what]
	r.next[what], r.skipped[what] = now.Add(logEvery), 0
	return skipped, true
}
