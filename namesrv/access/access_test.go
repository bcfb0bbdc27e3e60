package access

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

func mustParse(t testing.TB, text string) List {
	t.Helper()
	l, err := ParseList(text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestListHas(t *testing.T) {
	for _, tt := range []struct{ list, in, out string }{
		{"10.1.2.3", "10.1.2.3:1 [::ffff:10.1.2.3]:1", "10.1.2.4:1 [::10.1.2.3]:1"},
		{"::ffff:10.1.2.3", "10.1.2.3:1 [::ffff:10.1.2.3]:1", "10.1.2.4:1"},
		{"10.0.0.0/8, 192.168.7.0/24;127.0.0.1\t::1", "10.255.0.1:9 192.168.7.255:1 127.0.0.1:1 [::1]:1", "11.0.0.0:1 192.168.8.0:1 127.0.0.2:1 [::2]:1"},
		{"::ffff:10.0.0.0/104", "10.255.0.1:9 [::ffff:10.255.0.1]:9", "11.0.0.0:1"},
		{"0.0.0.0/0", "1.2.3.4:1 [::ffff:1.2.3.4]:1", "[2001:db8::1]:1"},
		{"::/0", "[2001:db8::1]:1 [fe80::1%eth0]:1", "1.2.3.4:1 [::ffff:1.2.3.4]:1"},
		{"2001:db8::/32", "[2001:db8:1::2]:1 [2001:0DB8::A]:1", "[2001:db9::]:1"},
		{"fe80::1", "[fe80::1]:1 [fe80::1%eth0]:1 [fe80::1%1]:1", "[fe80::2%eth0]:1"},
		{" , ;; 10.0.0.1 ,", "10.0.0.1:1", "0.0.0.0:1"},
		{"10.0.0.1/32 ::1/128", "10.0.0.1:1 [::1]:1", "10.0.0.0:1"},
		{"0.0.0.0/0 ::/0", "1.2.3.4:1 [2001:db8::1]:1", "pipe /run/socket 10.0.0.1 :9876 @ 300.1.1.1:1 host:1"},
		{"", "", "10.0.0.1:1 [::1]:1 pipe"},
	} {
		l := mustParse(t, tt.list)
		if l.Empty() != (tt.list == "") {
			t.Errorf("%q: empty %v", tt.list, l.Empty())
		}
		for _, peer := range strings.Fields(tt.in) {
			if !l.Has(Peer(peer)) {
				t.Errorf("%q has not %s", tt.list, peer)
			}
		}
		for _, peer := range strings.Fields(tt.out) {
			if l.Has(Peer(peer)) {
				t.Errorf("%q has %s", tt.list, peer)
			}
		}
	}
}

func TestListRefused(t *testing.T) {
	for _, tt := range []struct{ list, why string }{
		{"10.1.2.3/8", "write 10.0.0.0/8 for the network or 10.1.2.3 for the address"},
		{"::ffff:10.1.2.3/104", "write 10.0.0.0/8"},
		{"::ffff:0.0.0.0/90", "0.0.0.0/0"},
		{"2001:db8::1/32", "write 2001:db8::/32"},
		{"10.0.0.0/33", "no network"},
		{"10.0.0.0/-1", "no network"},
		{"10.0.0.0/08", "no network"},
		{"10.0.0.0/8/8", "no network"},
		{"fe80::1%eth0", "write fe80::1"},
		{"fe80::%eth0/64", "no network"},
		{"256.1.1.1", "no address"},
		{"010.0.0.1", "no address"},
		{"10.1", "no address"},
		{"localhost", "no address"},
		{"10.0.0.1:9876", "no address"},
		{"[::1]", "no address"},
		{"10.0.0.1-10.0.0.9", "no address"},
		{"10.0.0.1, *", "no address"},
		{"all", "no address"},
		{strings.Repeat("x", 1000), "…"},
		{strings.Repeat("10.0.0.1 ", maxEntries+1), fmt.Sprint("more than ", maxEntries)},
	} {
		l, err := ParseList(tt.list)
		if err == nil || !strings.Contains(err.Error(), tt.why) || len(err.Error()) > 300 {
			t.Errorf("%.80q: %v, want %q", tt.list, err, tt.why)
		}
		if !l.Empty() {
			t.Errorf("%.80q: refused, but not empty", tt.list)
		}
	}
	if l := mustParse(t, strings.Repeat("10.0.0.1 ", maxEntries)); len(l.networks) != maxEntries {
		t.Errorf("%d entries, want %d", len(l.networks), maxEntries)
	}
}

func TestParseMode(t *testing.T) {
	for text, want := range map[string]Mode{"enforce": Enforce, "Observe": Observe, "ENFORCE": Enforce} {
		if got, err := ParseMode(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "off", "observe ", "true"} {
		if _, err := ParseMode(text); err == nil {
			t.Errorf("%q counts as a mode", text)
		}
	}
}

// Every code that changes something is in a group, and no other.
func TestGroupOf(t *testing.T) {
	want := map[int32]Group{100: Admin, 102: Admin, 205: Admin, 216: Admin, 217: Both, 318: Admin, 327: Admin, 103: Broker, 104: Broker, 322: Broker, 904: Broker}
	for code := int32(-1); code < 2000; code++ {
		if got := GroupOf(code); got != want[code] {
			t.Errorf("code %d is in group %d, want %d", code, got, want[code])
		}
	}
}

func TestJudge(t *testing.T) {
	lan, brokers := mustParse(t, "10.0.0.0/8"), mustParse(t, "192.168.0.0/16")
	inside, outside, nobody := netip.MustParseAddr("10.1.1.1"), netip.MustParseAddr("172.16.0.1"), netip.Addr{}
	broker := netip.MustParseAddr("192.168.3.4")
	refusedBy := func(setting string) Verdict { return Verdict{By: setting, Refused: true} }
	observedBy := func(setting string) Verdict { return Verdict{By: setting} }
	type want struct {
		group Group
		from  netip.Addr
		Verdict
	}
	for _, tt := range []struct {
		name string
		Config
		wants []want
	}{
		{"admin list", Config{AdminAllow: lan}, []want{
			{Admin, inside, Verdict{}}, {Admin, outside, refusedBy("adminAllowList")}, {Admin, nobody, refusedBy("adminAllowList")},
			{Broker, outside, Verdict{}}, {Read, outside, Verdict{}},
		}},
		{"admin list, observed", Config{AdminAllow: lan, AdminMode: Observe}, []want{{Admin, inside, Verdict{}}, {Admin, outside, observedBy("adminAllowList")}}},
		{"broker list", Config{BrokerAllow: brokers}, []want{
			{Broker, broker, Verdict{}}, {Broker, inside, refusedBy("brokerAllowList")}, {Admin, inside, Verdict{}}, {Read, inside, Verdict{}},
		}},
		{"read only", Config{ReadOnly: true}, []want{{Admin, inside, refusedBy("readOnly")}, {Broker, inside, Verdict{}}, {Read, inside, Verdict{}}}},
		{"read only though listed", Config{ReadOnly: true, AdminAllow: lan}, []want{{Admin, inside, refusedBy("readOnly")}}},
		{"read only observed, listed", Config{ReadOnly: true, ReadOnlyMode: Observe, AdminAllow: lan}, []want{
			{Admin, inside, observedBy("readOnly")}, {Admin, outside, refusedBy("adminAllowList")},
		}},
		{"one topic, admin list", Config{AdminAllow: lan}, []want{
			{Both, inside, Verdict{}}, {Both, outside, refusedBy("adminAllowList")}, {Both, broker, refusedBy("adminAllowList")}, {Both, nobody, refusedBy("adminAllowList")},
		}},
		{"one topic, broker list", Config{BrokerAllow: brokers}, []want{{Both, broker, Verdict{}}, {Both, outside, refusedBy("brokerAllowList")}, {Both, inside, refusedBy("brokerAllowList")}}},
		{"one topic, both lists", Config{AdminAllow: lan, BrokerAllow: brokers}, []want{
			{Both, inside, Verdict{}}, {Both, broker, Verdict{}}, {Both, outside, refusedBy("adminAllowList")}, {Admin, broker, refusedBy("adminAllowList")}, {Broker, inside, refusedBy("brokerAllowList")},
		}},
		{"one topic, one list observed", Config{AdminAllow: lan, AdminMode: Observe, BrokerAllow: brokers}, []want{
			{Both, inside, Verdict{}}, {Both, broker, Verdict{}}, {Both, outside, refusedBy("brokerAllowList")},
		}},
		{"one topic, read only", Config{ReadOnly: true}, []want{{Both, inside, refusedBy("readOnly")}, {Both, nobody, refusedBy("readOnly")}}},
		{"one topic, read only with lists", Config{ReadOnly: true, AdminAllow: lan, BrokerAllow: brokers}, []want{{Both, inside, refusedBy("readOnly")}, {Both, broker, Verdict{}}}},
		{"both observed", Config{ReadOnly: true, ReadOnlyMode: Observe, AdminAllow: lan, AdminMode: Observe}, []want{{Admin, outside, observedBy("readOnly")}}},
		{"read only, list observed", Config{ReadOnly: true, AdminAllow: lan, AdminMode: Observe}, []want{{Admin, outside, refusedBy("readOnly")}}},
	} {
		r := New(tt.Config)
		for _, w := range tt.wants {
			if got := r.Judge(w.group, w.from); got != w.Verdict {
				t.Errorf("%s: group %d from %v: %+v, want %+v", tt.name, w.group, w.from, got, w.Verdict)
			}
		}
	}
}

// Without a setting there are no rules, and no rules refuse nothing. A mode alone is no rule.
func TestNoRules(t *testing.T) {
	r := New(Config{AdminMode: Observe, ReadOnlyMode: Observe})
	if r != nil {
		t.Fatal("rules out of nothing")
	}
	for g := Read; g < Groups; g++ {
		if v := r.Judge(g, netip.Addr{}); v != (Verdict{}) || r.Guarded(g) {
			t.Errorf("group %d: %+v", g, v)
		}
	}
}

func TestGuarded(t *testing.T) {
	lan := mustParse(t, "10.0.0.0/8")
	for _, tt := range []struct {
		Config
		admin, broker bool
	}{
		{Config{AdminAllow: lan}, true, false},
		{Config{AdminAllow: lan, AdminMode: Observe}, false, false},
		{Config{ReadOnly: true}, true, false},
		{Config{ReadOnly: true, ReadOnlyMode: Observe, BrokerAllow: lan}, false, true},
	} {
		if r := New(tt.Config); r.Guarded(Admin) != tt.admin || r.Guarded(Broker) != tt.broker {
			t.Errorf("%+v: %v, %v", tt.Config, r.Guarded(Admin), r.Guarded(Broker))
		}
	}
}

func BenchmarkJudge(b *testing.B) {
	var l List
	for i := range 100 {
		l.networks = append(l.networks, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(i)}), 16))
	}
	r, from := New(Config{BrokerAllow: l}), Peer("10.99.1.1:1")
	for b.Loop() {
		r.Judge(GroupOf(codec.RequestBrokerHeartbeat), from)
	}
}
