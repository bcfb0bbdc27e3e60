package probe

import (
	"context"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/access"
	"github.com/waymark-mq/waymark/namesrv/verdict"
)

func list(t *testing.T, text string) access.List {
	t.Helper()
	l, err := access.ParseList(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestReach(t *testing.T) {
	for _, c := range []struct {
		list, origin string
		has, hasNot  string
	}{
		{"", "10.0.0.7", "10.0.0.7", "10.0.0.1 127.0.0.1 169.254.169.254 192.168.1.9 0.0.0.0 ::1"},
		{"", "", "", "10.0.0.1 127.0.0.1 ::1 0.0.0.0"},
		{"", "127.0.0.1", "127.0.0.1 127.0.0.2 ::1 192.168.1.9 2001:db8::9", "10.0.0.1 169.254.169.254 0.0.0.0 ::"},
		{"", "192.168.1.9", "192.168.1.9 127.0.0.1 ::1", "192.168.1.8"},
		{"", "2001:db8::1", "2001:db8::1", "2001:db8::2 ::1"},
		{"10.0.0.0/8", "192.168.1.8", "10.0.0.1 192.168.1.8", "11.0.0.1 127.0.0.1 169.254.169.254"},
		{"0.0.0.0/0 ::/0", "", "10.0.0.1 127.0.0.1 2001:db8::1 fe80::1", "0.0.0.0 :: 224.0.0.1 ff02::1 255.255.255.255"},
	} {
		r := reach{list(t, c.list), func() []netip.Addr {
			return []netip.Addr{netip.MustParseAddr("192.168.1.9"), netip.MustParseAddr("2001:db8::9")}
		}}
		origin, _ := netip.ParseAddr(c.origin)
		for want, addrs := range map[bool]string{true: c.has, false: c.hasNot} {
			for _, a := range strings.Fields(addrs) {
				if r.has(netip.MustParseAddr(a), origin) != want {
					t.Errorf("list %q, from %q: %s is in reach: %v", c.list, c.origin, a, !want)
				}
			}
		}
	}
}

// What isn't allowed is never connected to, and is no failure; a name is looked up once, and means what was checked.
func TestForbiddenIsNotConnectedTo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	came := make(chan struct{}, 10)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			came <- struct{}{}
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	asked := 0
	p := New(10*time.Second, list(t, "192.0.2.0/24"))
	p.names.lookUp = func(context.Context, string) ([]netip.Addr, error) {
		if asked++; asked > 1 {
			return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil // what it means for whoever asks again
		}
		return []netip.Addr{netip.MustParseAddr("::ffff:127.0.0.1"), netip.MustParseAddr("10.9.9.9")}, nil
	}
	for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "rebound.example"} {
		target := verdict.Target{Broker: verdict.Broker{BrokerAddr: host + ":" + port}, Origin: netip.MustParseAddr("192.168.77.1")}
		got, link := p.Ask(t.Context(), target, nil)
		if got.Outcome != verdict.Forbidden || link != nil || !strings.Contains(got.Why, "192.168.77.1") {
			t.Errorf("%s: %+v, link %v", host, got, link)
		}
	}
	if len(came) > 0 {
		t.Error("connected")
	}
	if asked != 1 {
		t.Errorf("looked up %d times", asked)
	}
	own := verdict.Target{Broker: verdict.Broker{BrokerAddr: "127.0.0.1:" + port}, Origin: netip.MustParseAddr("127.0.0.1")}
	if got, _ := p.Ask(t.Context(), own, nil); got.Outcome != verdict.Silent { // it was connected to, and closes
		t.Errorf("its own address: %+v", got)
	}
}
