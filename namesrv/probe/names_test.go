package probe

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/verdict"
)

// Names whose lookup hangs cost a bounded number of lookups, though no probe waits for them; they are evidence against nobody, hold up nobody
// with an address, and their places are free once they have ended.
func TestHangingNames(t *testing.T) {
	p := New(20*time.Millisecond, list(t, "127.0.0.1"))
	var under, most, begun atomic.Int64
	release := make(chan struct{})
	p.names.lookUp = func(ctx context.Context, _ string) ([]netip.Addr, error) {
		begun.Add(1)
		if n := under.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer under.Add(-1)
		select {
		case <-release:
		case <-ctx.Done():
			t.Error("cancelled: what the resolver has begun is not known to have ended")
		}
		return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
	}
	target := func(addr string) verdict.Target { return verdict.Target{Broker: verdict.Broker{BrokerAddr: addr}} }
	for range 3 {
		var all sync.WaitGroup
		for i := range 2 * mostLookups {
			all.Go(func() {
				if got, _ := p.Ask(t.Context(), target(fmt.Sprintf("b%d.example:1", i)), nil); got.Outcome != verdict.Impossible || got.Why == "" {
					t.Errorf("%+v", got)
				}
			})
		}
		all.Wait()
	}
	if n := begun.Load(); n != mostLookups {
		t.Errorf("%d lookups begun while none ended, want %d", n, mostLookups)
	}
	if got, _ := p.Ask(t.Context(), target("127.0.0.1:1"), nil); got.Outcome == verdict.Impossible {
		t.Errorf("an address waits for names: %+v", got)
	}
	close(release)
	for len(p.names.places) > 0 {
		time.Sleep(time.Millisecond)
	}
	p.timeout = time.Minute
	got, _ := p.Ask(t.Context(), target("free.example:1"), nil)
	if got.Outcome != verdict.Forbidden || !strings.Contains(got.Why, "10.0.0.1") {
		t.Errorf("after they ended: %+v", got)
	}
	if n := most.Load(); n > mostLookups {
		t.Errorf("%d at a time", n)
	}
}
