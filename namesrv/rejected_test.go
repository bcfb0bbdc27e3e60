package namesrv

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// rejections are the remembered ones as broker: detail.
func (s *testServer) rejections() (lines []string) {
	s.t.Helper()
	s.barrier()
	for _, e := range s.Events(0, maxEvents, func(e *Event) bool { return e.Kind == kindRejected }).Events {
		lines = append(lines, e.Broker+": "+e.Detail)
	}
	return lines
}

// rejectedCount is how many are counted.
func (s *testServer) rejectedCount() uint64 {
	s.t.Helper()
	events := s.metrics().Events
	return events[slices.IndexFunc(events, func(e EventMetrics) bool { return e.Kind == kindRejected })].Count
}

// A registration that doesn't come to the table is found among the events by its broker's name, with the remark that it was answered with,
// and logged: once a minute for each broker and reason. Every one is counted.
func TestRejectedRegistrations(t *testing.T) {
	s := start(t, brokerList)
	in, out := s.proxied(inside), s.proxied(outside)
	in.register(broker("fine"))
	var want []string
	cases := []struct {
		name    string
		from    *client
		request request
		spent   int64 // of the write budget
		detail  string
	}{
		{"checksum", in, broker("checksum").set("bodyCrc32", "1").request(), 0, remarkCRC},
		{"body", in, broker("body").raw("{").request(), 0, ""},
		{"field", in, broker("field").without("brokerAddr").request(), 0, "brokerAddr is missing"},
		{"full", in, broker("full").request(), s.maxWriteBytes + 1, remarkBusy},           // on the loop
		{"fullDecoded", in, broker("fullDecoded").request(), s.maxWriteBytes, remarkBusy}, // by a decoder
		{"access", out, broker("access").request(), 0, "no permission from 172.16.0.9: brokerAllowList"},
	}
	for _, tt := range cases {
		s.writeBytes.Add(tt.spent)
		tt.from.send(tt.request.oneway())
		for range 3 {
			a := tt.from.call(tt.request)
			if a.code == 0 || a.remark == nil || tt.detail != "" && *a.remark != tt.detail {
				t.Errorf("%s: %s", tt.name, a)
				continue
			}
			tt.detail = *a.remark
		}
		eventually(t, "all are decoded", func() bool { return s.writeBytes.Load() == tt.spent })
		s.writeBytes.Add(-tt.spent)
		want = append(want, tt.name+": "+bounded(tt.detail))
		if got := s.logged(textRejected); len(got) != len(want) || !strings.Contains(got[len(got)-1], "broker="+tt.name) {
			t.Errorf("%s: %d lines, want %d: %v", tt.name, len(got), len(want), got)
		}
	}
	eventually(t, "each is counted", func() bool { return s.rejectedCount() == uint64(4*len(cases)) })
	if got := s.rejections(); !slices.Equal(got, want) {
		t.Errorf("events\n got %q\nwant %q", got, want)
	}
	e := s.Events(0, maxEvents, func(e *Event) bool { return e.Broker == "checksum" }).Events[0]
	if e.Cluster != cluster || e.Addr != "checksum:10911" || e.Peer != inside || e.Conn == 0 || e.Text == "" {
		t.Errorf("%+v", e)
	}
	s.clock.now.Add(int64(time.Minute))
	in.call(cases[0].request)
	if got := s.rejections(); !slices.Equal(got, append(want, want[0])) {
		t.Errorf("a minute later: %q", got)
	}
	in.wantRoute("Base", "fine{0=fine:10911} 4/4/6/0")
}

// A flood of rejected registrations under ever new names is counted, but leaves the other events in the history, and the log short.
func TestFloodOfRejectedRegistrations(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.register(broker("a"))
	const flood = 3 * otherLines
	c.flood(flood, func(i int) request {
		return broker(fmt.Sprint("b", i)).set("bodyCrc32", "1", "clusterName", strings.Repeat("ä", 300)).request()
	})
	if got := len(s.rejections()); got != otherLines {
		t.Errorf("%d events, want %d", got, otherLines)
	}
	if got := len(s.logged(textRejected)); got != otherLines {
		t.Errorf("%d lines, want %d", got, otherLines)
	}
	if got := s.rejectedCount(); got != flood {
		t.Errorf("%d counted, want %d", got, flood)
	}
	for _, e := range s.Events(0, maxEvents, anyEvent).Events {
		if len(e.Cluster) > maxEventText || strings.ContainsRune(e.Cluster, '\uFFFD') {
			t.Errorf("%d bytes: %q", len(e.Cluster), e.Cluster)
		}
	}
}
