package peers

import (
	"bytes"
	"context"
	"log"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/waymark-mq/waymark/internal/linelimit"
)

// memberLog gives memberlist's lines to slog: what it warns of as warnings, one of a kind in ten seconds at most, the rest for debugging. Peers and
// strangers bring most of them about.
type memberLog struct {
	to         *slog.Logger
	kinds      *linelimit.Kinds
	unreadable *atomic.Uint64 // packets and connections that no key of ours fits
}

// unreadable are what memberlist's lines say of those: nothing else tells of them.
var unreadable = [][]byte{
	[]byte("Decrypt packet failed"), []byte("no installed keys could decrypt"), []byte("remote state is encrypted"), []byte("remote state is not encrypted"),
}

const logEvery = 10 * time.Second

func newMemberLog(to *slog.Logger, now func() int64) memberLog {
	return memberLog{to, linelimit.New(now), &atomic.Uint64{}}
}

// logger is for memberlist.
func (l memberLog) logger() *log.Logger { return log.New(l, "", 0) }

// Write takes a line of memberlist's.
func (l memberLog) Write(line []byte) (int, error) {
	text := bytes.TrimSpace(line)
	if slices.ContainsFunc(unreadable, func(sign []byte) bool { return bytes.Contains(text, sign) }) {
		l.unreadable.Add(1)
	}
	level := slog.LevelDebug
	for _, prefix := range []string{"[WARN] ", "[ERR] ", "[ERROR] ", "Err: "} {
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
	l.limitedKind(kindOf(string(text)), "peers: memberlist", "says", string(text))
	return len(line), nil
}

// kindOf is what lines of memberlist that say the same of different addresses have in common: the words that they begin with.
func kindOf(text string) string {
	const most = 3 // with "memberlist:"; the first value follows after the third at the earliest
	words := strings.Fields(text)
	return strings.Join(words[:min(len(words), most)], " ")
}

// limited warns, unless it has warned of the same within ten seconds.
func (l memberLog) limited(message string, args ...any) { l.limitedKind(message, message, args...) }

func (l memberLog) limitedKind(kind, message string, args ...any) {
	skipped, _, ok := l.kinds.Allow(kind, logEvery)
	if !ok {
		return
	}
	if skipped > 0 {
		args = append(args, "leftOut", skipped)
	}
	l.to.Log(context.Background(), slog.LevelWarn, message, args...)
}
