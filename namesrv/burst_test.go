package namesrv

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/core"
)

// Events are logged a thousand at once and then a hundred a second; the next line
// that is written counts the others.
func TestBurstOfEvents(t *testing.T) {
	clock, lines := newFakeClock(), &logLines{}
	l := newEventLog(lines.logger(), clock.Now)
	seen, brokers := 0, 0
	for _, tt := range []struct {
		name    string
		pass    time.Duration
		events  int
		logged  int
		skipped int // since the last line that was written before these
	}{
		{"within the burst", 0, 400, 400, 0},
		{"the rest of it", 0, 1000, 600, 0},
		{"a second later", time.Second, 250, 100, 400},
		{"not yet", 9 * time.Millisecond, 5, 0, 0},
		{"a hundredth of a second in all", time.Millisecond, 5, 1, 155},
		{"a little of what came", time.Second, 30, 30, 4},
		{"the rest of that", 0, 200, 70, 0},
		{"a minute later no more than at first", time.Minute, 1500, 1000, 130},
	} {
		clock.now.Add(int64(tt.pass))
		for range tt.events {
			brokers++
			l.log(&core.Event{Kind: core.EventRegistered, ClusterName: "c", BrokerName: fmt.Sprint("b", brokers)})
		}
		got := lines.with("broker registered")[seen:]
		seen += len(got)
		if len(got) != tt.logged {
			t.Errorf("%s: %d lines, want %d", tt.name, len(got), tt.logged)
		}
		for i, line := range got {
			want := i == 0 && tt.skipped > 0
			if has := strings.Contains(line, "otherEventsNotLogged"); has != want ||
				want && !strings.HasSuffix(line, fmt.Sprintf(" otherEventsNotLogged=%d", tt.skipped)) {
				t.Errorf("%s: line %d, %d others skipped: %s", tt.name, i, tt.skipped, line)
			}
		}
	}
}
