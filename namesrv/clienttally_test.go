package namesrv

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

// Connections count under what their first request said, until they end.
func TestClientsAreCounted(t *testing.T) {
	s := start(t)
	clients := func() string {
		var lines []string
		for _, c := range s.metrics().Clients {
			lines = append(lines, fmt.Sprintf("%s/%s=%d", c.Language, c.Version, c.Conns))
		}
		return strings.Join(lines, " ")
	}
	s.dial() // says nothing
	c := s.dial()
	c.call(routeOf("None").from(475))
	c.call(routeOf("None").from(401))
	for range 3 {
		s.dial().call(broker("a").heartbeat().from(407))
	}
	if got, want := clients(), "JAVA/4.9.7=3 JAVA/5.3.1=1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	c.close()
	eventually(t, "the end of a connection", func() bool { return clients() == "JAVA/4.9.7=3" })
}

// However many languages and versions peers claim, a loop counts a bounded number of kinds, and every connection in one.
func TestKindsOfClientsAreBounded(t *testing.T) {
	var tl clientTally
	var kinds []clientKind
	for i := range int32(1000) {
		kinds = append(kinds, tl.add(clientKind{codec.Language(i % 20), i - 10}))
	}
	total := 0
	for _, n := range tl {
		total += n
	}
	if len(tl) != maxClientKinds+1 || total != 1000 {
		t.Errorf("%d connections of %d kinds", total, len(tl))
	}
	for _, k := range kinds {
		tl.remove(k)
	}
	if len(tl) != 0 {
		t.Errorf("left: %v", tl)
	}
}

func TestVersionNames(t *testing.T) {
	for ordinal, want := range map[int32]string{
		401: "4.9.4", 407: "4.9.7", 406: "4.9.7-SNAPSHOT", 413: "5.0.0", 475: "5.3.1", 513: "5.5.0", 213: "4.0.0", 611: "5.9.9",
		211: "211", 0: "0", 612: "612", 1 << 30: "1073741824",
	} {
		if got := versionName(ordinal); got != want {
			t.Errorf("%d is %q, want %q", ordinal, got, want)
		}
	}
}
