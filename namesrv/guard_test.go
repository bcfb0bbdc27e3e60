package namesrv

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/internal/invariants"
	"github.com/waymark-mq/waymark/internal/raceflag"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// proxied is a connection whose first bytes say that its peer is at from. Tests listen on loopback, so that
// is how they come from elsewhere.
func (s *testServer) proxied(from string) *client {
	s.t.Helper()
	c := s.dial()
	host, port, err := net.SplitHostPort(from)
	if err != nil {
		s.t.Fatal(err)
	}
	family, to := "TCP4", "127.0.0.1"
	if strings.Contains(host, ":") {
		family, to = "TCP6", "::1"
	}
	if _, err := fmt.Fprintf(c.conn, "PROXY %s %s %s %s 9876\r\n", family, host, to, port); err != nil {
		s.t.Fatal(err)
	}
	return c
}

const (
	inside, outside = "10.1.2.3:1000", "172.16.0.9:1000"

	notInAdminList  = `16 "no permission from 172.16.0.9: adminAllowList"`
	notInBrokerList = `16 "no permission from 172.16.0.9: brokerAllowList"`
)

// The proxy is on this machine, and must be allowed too.
func adminList(c *settings.Settings)  { c.AdminAllowList = "10.0.0.0/8, 127.0.0.1" }
func brokerList(c *settings.Settings) { c.BrokerAllowList = "10.0.0.0/8, 127.0.0.1" }

// adminRequests change something in world, each of them.
func adminRequests() []request {
	return []request{
		put("n", "k", "changed"), del("n", "k"), ask(205, "brokerName", "a"), ask(327, "brokerName", "a"), ask(216, "topic", "Base"),
		ask(217, "topic", "New").with(`{"queueDatas":[{"brokerName":"a","readQueueNums":1,"writeQueueNums":1,"perm":6,"topicSysFlag":0}]}`),
		configure("enableTopicList=false"),
	}
}

// brokerRequests change something in world, but for the heartbeat and the version query.
func brokerRequests() []request {
	return []request{broker("a").counter(9).request(), broker("new").request(), broker("a").unregister(), broker("a").heartbeat(), broker("a").query()}
}

// state is all that a peer can see of the server's tables.
func state(c *client) string {
	var b strings.Builder
	for _, r := range []request{ask(106), ask(206), ask(319), listKV("n"), routeOf("Base"), routeOf("Pad"), routeOf("New"), ask(901, "brokerName", "a")} {
		fmt.Fprintln(&b, c.call(r))
	}
	return b.String()
}

// From outside of a list nothing can be changed, whatever the header's form, whether an answer is wanted or not: the answer is 16, the
// tables are as before, the connection stays, and all that reads is answered. From inside everything works.
func TestAllowLists(t *testing.T) {
	for _, tt := range []struct {
		name     string
		set      func(*settings.Settings)
		requests []request
		want     string
	}{
		{"admin", adminList, adminRequests(), notInAdminList},
		{"broker", brokerList, brokerRequests(), notInBrokerList},
		{"read only", func(c *settings.Settings) { c.ReadOnly = true }, adminRequests(), `16 "no permission from 172.16.0.9: readOnly"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, tt.set)
			in, out := s.proxied(inside), s.proxied(outside)
			in.register(broker("a"), broker("b"))
			before := state(in)
			for _, r := range tt.requests {
				for _, form := range []codec.SerializeType{codec.SerializeJSON, codec.SerializeROCKETMQ} {
					r.form = form
					out.send(r.oneway())
					out.want(r, tt.want)
				}
			}
			if got := state(out); got != before || len(out.early) > 0 {
				t.Errorf("state\n%s\nwant\n%s\nearly answers %v", got, before, out.early)
			}
			stats := s.AccessStats()
			if got, want := stats.RefusedAdmin+stats.RefusedBroker, uint64(4*len(tt.requests)); got != want || stats.ObservedAdmin+stats.ObservedBroker > 0 {
				t.Errorf("%+v, want %d refused", stats, want)
			}
			if tt.name == "read only" {
				in.want(tt.requests[0], `16 "no permission from 10.1.2.3: readOnly"`)
				return
			}
			for _, r := range tt.requests {
				if a := in.call(r); a.code != 0 {
					t.Errorf("code %d from inside: %s", r.code, a)
				}
			}
		})
	}
}

// The group that has no list is open to all.
func TestOneListGuardsOneGroup(t *testing.T) {
	s := start(t, adminList)
	out := s.proxied(outside)
	out.register(broker("a"))
	out.want(ask(205, "brokerName", "a"), notInAdminList)
	s = start(t, brokerList)
	out = s.proxied(outside)
	out.want(put("n", "k", "v"), "0")
	out.want(broker("a").request(), notInBrokerList)
}

// A refused heartbeat is no sign of life, and a refused version query none either.
func TestRefusedBeatDoesNotCount(t *testing.T) {
	s := start(t, brokerList)
	in, out := s.proxied(inside), s.proxied(outside)
	in.register(broker("a").set("heartbeatTimeoutMillis", "10000"))
	s.advance(8 * time.Second)
	out.send(broker("a").heartbeat().oneway(), broker("a").query().oneway(), broker("a").request().oneway())
	out.want(broker("a").heartbeat(), notInBrokerList)
	s.advance(8 * time.Second)
	out.wantRoute("Base", "none")
}

// With the mode observe everything is let through; what would be refused is counted, and logged once a minute for each
// address and code.
func TestObserve(t *testing.T) {
	s := start(t, adminList, brokerList, func(c *settings.Settings) {
		c.AdminAllowListMode, c.BrokerAllowListMode, c.ReadOnly, c.ReadOnlyMode = "observe", "Observe", true, "observe"
	})
	out := s.proxied(outside)
	out.register(broker("a"))
	for range 5 {
		for _, r := range append([]request{broker("a").heartbeat()}, adminRequests()...) {
			if a := out.call(r); a.code != 0 {
				t.Errorf("code %d: %s", r.code, a)
			}
		}
	}
	out.wantRoute("New", "a{0=a:10911} 1/1/6/0")
	if got, want := s.AccessStats(), (AccessStats{ObservedAdmin: 35, ObservedBroker: 6}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	lines := s.logged("would be refused")
	if len(lines) != 9 { // seven codes of operators, registration and heartbeat
		t.Errorf("%d lines, want 9: %v", len(lines), lines)
	}
	for _, part := range []string{"level=WARN", "setting=brokerAllowList", "code=103", "request=REGISTER_BROKER", "from=172.16.0.9"} {
		if !strings.Contains(lines[0], part) {
			t.Errorf("%s is missing in %s", part, lines[0])
		}
	}
}

// A flood of refused requests over many connections is a line a minute.
func TestRefusedRequestsAreLoggedOnceAMinute(t *testing.T) {
	s := start(t, adminList)
	for range 20 {
		c := s.proxied(outside)
		for range 5 {
			c.want(ask(205, "brokerName", "a"), notInAdminList)
		}
		c.close()
	}
	if got := s.logged("request refused"); len(got) != 1 {
		t.Errorf("%d lines: %v", len(got), got)
	}
	s.advance(time.Minute)
	s.proxied(outside).want(ask(205, "brokerName", "a"), notInAdminList)
	if got := s.logged("request refused"); len(got) != 2 || !strings.Contains(got[1], "notLogged=19") {
		t.Errorf("a minute later: %v", got)
	}
}

// Addresses are compared whatever their spelling; what comes without a PROXY header is at the socket's address.
func TestAddressesOfPeers(t *testing.T) {
	s := start(t, func(c *settings.Settings) { c.AdminAllowList = "2001:db8::/32, ::ffff:192.0.2.1, 127.0.0.0/8" })
	for from, allowed := range map[string]bool{
		"[2001:db8::7]:1": true, "[2001:db9::7]:1": false, "192.0.2.1:1": true, "[::ffff:192.0.2.1]:1": true, "192.0.2.2:1": false, "[::1]:1": false,
	} {
		if got := s.proxied(from).call(put("n", "k", "v")).code == 0; got != allowed {
			t.Errorf("%s: allowed %v", from, got)
		}
	}
	s.dial().want(put("n", "k", "v"), "0")
}

// A PROXY header, which everybody can send, lifts no rule: the other end of the socket must be allowed as well.
func TestProxyHeaderLiftsNoRule(t *testing.T) {
	for _, tt := range []struct {
		list, from string
		want       string // "": allowed
		trusted    string // proxyProtocolTrusted
	}{
		{list: "10.0.0.0/8", from: inside, want: "no permission from 127.0.0.1: adminAllowList"},
		{list: "127.0.0.1", from: inside, want: "no permission from 10.1.2.3: adminAllowList"},
		{list: "172.16.0.0/12", from: inside, want: "no permission from 10.1.2.3: adminAllowList"},
		{list: "10.0.0.0/8 127.0.0.1", from: inside, want: ""},
		{list: "10.0.0.0/8", from: "", want: "no permission from 127.0.0.1: adminAllowList"},
		{list: "127.0.0.1"},
		// With known proxies the real address counts, and only that.
		{list: "10.0.0.0/8", from: inside, trusted: "127.0.0.1"},
		{list: "127.0.0.1", from: inside, trusted: "127.0.0.1", want: "no permission from 10.1.2.3: adminAllowList"},
	} {
		s := start(t, func(c *settings.Settings) { c.AdminAllowList, c.ProxyProtocolTrusted = tt.list, tt.trusted })
		c := s.dial()
		if tt.from != "" {
			c = s.proxied(tt.from)
		}
		a := c.call(put("n", "k", "v"))
		if allowed := a.code == 0; allowed != (tt.want == "") || !allowed && (a.code != 16 || *a.remark != tt.want) {
			t.Errorf("list %s, from %s: %s, want %q", tt.list, tt.from, a, tt.want)
		}
	}
}

// The rules can't be changed by the request that they guard, nor by an address that they allow.
func TestGuardCannotBeLifted(t *testing.T) {
	s := start(t, adminList)
	in := s.proxied(inside)
	for _, body := range []string{
		"adminAllowList=", "adminAllowListMode=observe", "brokerAllowList=10.0.0.1", "readOnly=false", "readOnly=true", "auditLogPath=/tmp/x", "logDir=/tmp",
		"maxNewConnectionsPerSecondPerAddress=1", "maxMissesPerSecondPerAddress=1", "maxInflatedBodyBytes=65536", "brokerCloseGraceMillis=3600000",
		"enableTopicList=false\n  adminAllowList : 0.0.0.0/0", `\u0061dminAllowList=`, "admin\\\n AllowList=", "adminAllowList",
	} {
		in.want(configure(body), `16 "Can not update config in black list."`)
	}
	s.proxied(outside).want(put("n", "k", "v"), notInAdminList)
	in.want(ask(224, "cluster", "c"), `0 {"topicList":[]}`)
}

// Other rules count from the next request on, also for a heartbeat that is recognised without a look at it.
func TestOtherRulesCountAtOnce(t *testing.T) {
	s := start(t)
	out := s.proxied(outside)
	out.register(broker("a").set("heartbeatTimeoutMillis", "10000"))
	beat := func(want string) {
		t.Helper()
		for range 3 {
			out.want(broker("a").heartbeat(), want)
		}
	}
	for _, step := range []struct{ list, mode, want string }{
		{"", "enforce", "0"}, {"10.0.0.0/8", "enforce", notInBrokerList}, {"172.16.0.0/12", "enforce", "0"}, {"10.0.0.0/8", "observe", "0"}, {"10.0.0.0/8", "enforce", notInBrokerList},
	} {
		c := *s.settings.Load()
		c.BrokerAllowList, c.BrokerAllowListMode = step.list, step.mode
		if step.list != "" {
			c.BrokerAllowList += ", 127.0.0.1"
		}
		if err := s.guard.setRules(&c); err != nil {
			t.Fatal(err)
		}
		beat(step.want)
	}
	if got, want := s.AccessStats(), (AccessStats{RefusedBroker: 6, ObservedBroker: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Rules that can't be read stop the start.
func TestUnreadableRules(t *testing.T) {
	c := settings.Default(settings.Env{HomeDir: t.TempDir()})
	c.AdminAllowList = "localhost"
	if _, err := New(Options{Settings: c}); err == nil || !strings.Contains(err.Error(), "adminAllowList") {
		t.Errorf("%v", err)
	}
}

// Without rules nothing is asked about peers: that is the way of every heartbeat.
func TestNoRulesAskNothing(t *testing.T) {
	s := start(t)
	pipe := s.pipe()
	loop := s.NewLoop()
	for _, r := range allRequests() {
		if _, err := loop.Frame(pipe.Conn(), nil, r.frame(1), s.clock.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if p := pipe.Conn().Context.(*session).peer; p != nil {
		t.Errorf("%+v was found out about the peer", *p)
	}
}

func TestOpenServerSaysSo(t *testing.T) {
	const everything, brokers, rest = "may register and remove brokers, and change topics, permissions, KV and settings: see brokerAllowList, adminAllowList, readOnly in",
		"may register and remove brokers: see brokerAllowList in", "may change topics, permissions, KV and settings: see adminAllowList, readOnly in"
	readOnly := func(c *settings.Settings) { c.ReadOnly = true }
	observe := func(c *settings.Settings) { c.ReadOnlyMode, c.BrokerAllowListMode = "observe", "observe" }
	for _, tt := range []struct {
		addr string
		set  []func(*settings.Settings)
		want string // "": no warning
	}{
		{"0.0.0.0", nil, everything},
		{"::", nil, everything},
		{"203.0.113.5", nil, everything},
		{"2001:db8::1", nil, everything},
		{"127.0.0.1", nil, ""},
		{"::1", nil, ""},
		{"10.0.0.1", nil, ""},
		{"fd00::1", nil, ""},
		{"0.0.0.0", []func(*settings.Settings){adminList}, brokers},
		{"0.0.0.0", []func(*settings.Settings){readOnly}, brokers},
		{"0.0.0.0", []func(*settings.Settings){brokerList}, rest},
		{"0.0.0.0", []func(*settings.Settings){adminList, brokerList}, ""},
		{"0.0.0.0", []func(*settings.Settings){readOnly, brokerList, observe}, everything},
	} {
		home := t.TempDir()
		c := settings.Default(settings.Env{HomeDir: home})
		for _, set := range tt.set {
			set(c)
		}
		s := newTestServer(t, home, Options{Settings: c})
		s.warnIfOpen(&net.TCPAddr{IP: net.ParseIP(tt.addr), Port: 9876})
		got := s.logs.with("everybody who reaches this port may")
		if (len(got) == 1) != (tt.want != "") || len(got) > 1 || len(got) == 1 && !strings.Contains(got[0], tt.want) {
			t.Errorf("%s: %v, want %q", tt.addr, got, tt.want)
		}
	}
}

// With rules on, a heartbeat that they allow or observe costs no allocation either: the verdict is kept.
func TestJudgedBeatAllocatesNothing(t *testing.T) {
	if raceflag.Enabled || invariants.Enabled {
		t.Skip("this build allocates by itself")
	}
	for _, mode := range []string{"enforce", "observe"} {
		s := start(t, brokerList, func(c *settings.Settings) { c.BrokerAllowListMode = mode })
		loop, conn := s.NewLoop(), s.pipe().Conn()
		from := inside
		if mode == "observe" {
			from = outside
		}
		conn.Context.(*session).peer = &peer{origin: originOf(from)}
		s.proxied(inside).register(broker("a"))
		frame, dst := broker("a").heartbeat().frame(1), make([]byte, 0, 4096)
		run := func() {
			var err error
			if dst, err = loop.Frame(conn, dst[:0], frame, s.clock.Now()); err != nil || len(dst) == 0 {
				t.Fatal(err)
			}
		}
		run()
		if n := testing.AllocsPerRun(200, run); n != 0 {
			t.Errorf("%s: %v allocations", mode, n)
		}
	}
}

// TestNewConnectionsBehindAKnownProxy: the proxy may open as many as it likes; whom it names has the share of its address.
func TestNewConnectionsBehindAKnownProxy(t *testing.T) {
	const most = 3
	s := start(t, func(c *settings.Settings) {
		c.MaxNewConnectionsPerSecondPerAddress, c.ProxyProtocolTrusted = most, "127.0.0.1"
	})
	behind := func(source string) *client {
		c := s.dial()
		if _, err := fmt.Fprintf(c.conn, "PROXY TCP4 %s 192.0.2.2 1000 2000\r\n", source); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for i := range 4 * most {
		behind(fmt.Sprintf("192.0.2.%d", i)).wantCode(ask(106), 0)
		s.dial().wantCode(ask(106), 0) // the proxy itself
	}
	for range most {
		behind("198.51.100.1").wantCode(ask(106), 0)
	}
	refused := behind("198.51.100.1")
	refused.send(ask(106))
	refused.wantClosed()
	if got := s.AccessStats().ConnectionsLimited; got != 1 {
		t.Errorf("%d counted, want 1", got)
	}
	if got := s.logged("too many new connections of the address"); len(got) != 1 || !strings.Contains(got[0], "198.51.100.1") {
		t.Errorf("logged %v", got)
	}
	s.advance(time.Second)
	behind("198.51.100.1").wantCode(ask(106), 0)
}

// TestNewConnectionsBehindAnyProxy: where everybody's header is believed, a fresh address in each brings nobody anything.
func TestNewConnectionsBehindAnyProxy(t *testing.T) {
	s := start(t, func(c *settings.Settings) { c.MaxNewConnectionsPerSecondPerAddress = 1 })
	s.dial().wantCode(ask(106), 0)
	c := s.dial()
	_, _ = io.WriteString(c.conn, "PROXY TCP4 192.0.2.7 192.0.2.2 1000 2000\r\n") // it may be closed by now
	c.wantClosed()
}
