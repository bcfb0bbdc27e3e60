package peers

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestNoLineOfMemberlistSilencesAnother: what strangers bring about at will is one line in a while, whatever address it is of, and hides nothing else.
func TestNoLineOfMemberlistSilencesAnother(t *testing.T) {
	var b bytes.Buffer
	l := newMemberLog(slog.New(slog.NewTextHandler(&b, nil)), func() int64 { return 0 }).logger()
	for i := range 1000 {
		l.Printf("[ERR] memberlist: failed to receive: EOF from=10.0.%d.%d:%d", i/256, i%256, i)
		l.Printf("[ERR] memberlist: UDP packet too short (%d bytes) from=10.0.0.1:%d", i, i)
		l.Printf("[ERR] memberlist: msg type (%d) not supported from=10.0.0.1:%d", i%256, i)
	}
	l.Print("[ERR] memberlist: Conflicting address for ns-2. Mine: 10.0.0.2:7946 Theirs: 10.0.0.3:7946 Old state: 0")
	l.Print("[ERROR] memberlist: Failed to encrypt local state: no key")
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	for _, want := range []string{"failed to receive", "packet too short", "not supported", "Conflicting address", "Failed to encrypt"} {
		if n := strings.Count(b.String(), want); n != 1 {
			t.Errorf("%d lines say %q, want one", n, want)
		}
	}
	if len(lines) != 5 {
		t.Errorf("%d lines:\n%s", len(lines), b.String())
	}
}
