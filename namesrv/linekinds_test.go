package namesrv

import (
	"errors"
	"fmt"
	"log/slog"
	"testing"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/linelimit"
	"github.com/waymark-mq/waymark/namesrv/access"
	"github.com/waymark-mq/waymark/namesrv/audit"
	life "github.com/waymark-mq/waymark/namesrv/verdict"
)

// bringsAbout is a way to bring a line about; i makes it a new one as far as whoever does so can.
type bringsAbout struct {
	name string
	tell func(l *eventLog, i int)
}

func waysToALine() (ways []bringsAbout) {
	code := int32(1)
	deedOf := func(i int) *deed {
		return &deed{changed: true, Record: audit.Record{Code: int32(i), What: &audit.What{}, Result: &code}}
	}
	ways = []bringsAbout{
		lineDone:   {"operator's change", func(l *eventLog, i int) { l.done(deedOf(i)) }},
		lineFailed: {"operator's failure", func(l *eventLog, i int) { l.failed(deedOf(i)) }},
		lineAccess: {"access", func(l *eventLog, i int) {
			l.against(100, verdict{Verdict: access.Verdict{Refused: true}, from: fmt.Sprint(i)})
		}},
		lineMisses:   {"misses", func(l *eventLog, i int) { l.tooManyMisses(fmt.Sprint(i), 1) }},
		lineRejected: {"rejection", func(l *eventLog, i int) { l.rejected(&Event{Broker: fmt.Sprint(i)}, rejectedChecksum) }},
		lineAddress: {"address", func(l *eventLog, i int) {
			l.noteAddress(&core.RegisterBroker{BrokerAddr: fmt.Sprintf("no port %d", i)}, "10.0.0.1:1")
		}},
		lineOrderConf: {"order configuration", func(l *eventLog, i int) { l.badOrderConf(fmt.Sprint(i), "x") }},
		lineProduct:   {"product", func(l *eventLog, _ int) { l.productFailed(errors.New("gone")) }},
		lineFile:      {"file", func(l *eventLog, i int) { l.fileFailed(fmt.Sprint("file ", i, " not written"), errors.New("full")) }},
		lineTurn: {"turn", func(l *eventLog, i int) {
			l.limited(lineTurn, slog.LevelWarn, fmt.Sprint(i), "turned")
		}},
		lineNotProbed: {"not probed", func(l *eventLog, i int) { l.notProbed(&life.Broker{BrokerAddr: fmt.Sprint(i)}, "no") }},
		lineKeepAlive: {"keepalive", func(l *eventLog, _ int) { l.keepAliveFailed(errors.New("no")) }},
		lineFault:     {"fault", func(l *eventLog, i int) { l.limited(lineFault, slog.LevelError, fmt.Sprint(i), "fault") }},
	}
	for kind := range core.EventKinds {
		t := &eventKinds[kind]
		if t.deed || t.level < slog.LevelInfo { // told with the deed, or not at all
			continue
		}
		ways = append(ways, bringsAbout{t.name, func(l *eventLog, i int) { l.log(&core.Event{Kind: kind, BrokerName: fmt.Sprint("b", i)}) }})
	}
	return ways
}

// Whatever is brought about as often as anybody likes leaves every other kind of line its own allowance.
func TestNoKindOfLineSilencesAnother(t *testing.T) {
	ways := waysToALine()
	if len(ways) < int(lineKinds)+10 {
		t.Fatalf("%d ways to a line", len(ways))
	}
	for i, flooding := range ways {
		if flooding.tell == nil {
			t.Fatalf("line kind %d has no way to it here", i)
		}
		clock, lines := newFakeClock(), &logLines{}
		l := newEventLog(lines.logger(), clock.Now)
		for n := range linelimit.MaxKinds + 2*burstLines {
			flooding.tell(l, n)
		}
		for j, other := range ways {
			if i == j {
				continue
			}
			before := len(lines.with(""))
			other.tell(l, -1)
			if got := len(lines.with("")) - before; got != 1 {
				t.Errorf("%s after many of %s: %d lines", other.name, flooding.name, got)
			}
		}
	}
}

// Records of a kind in the audit file leave the others theirs.
func TestNoKindOfRefusalSilencesAnother(t *testing.T) {
	for _, flooding := range []audit.Event{audit.Refused, audit.Observed, audit.Failed} {
		bursts := newRefusals(newFakeClock().Now)
		for range 2 * mostRefusals {
			bursts[flooding].allow()
		}
		for event, burst := range bursts {
			if _, ok := burst.allow(); ok != (event != flooding) {
				t.Errorf("%s after many of %s: let through %v", event, flooding, ok)
			}
		}
	}
}
