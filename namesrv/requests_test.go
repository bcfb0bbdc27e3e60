package namesrv

import (
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// requestRow is one row of a request code's table: what is asked in the world
// below, after some requests before it, and the whole answer.
type requestRow struct {
	name     string
	before   []request
	r        request
	want     string // as answer.String; one that ends in … is a beginning
	jsonOnly bool   // has an empty text, which the binary form can't tell from none
}

// world registers what most rows ask about:
//
//	DefaultCluster  a   id 0 and 1  Base Pad Unit(1) Sub(2) UnitSub(3)
//	OtherCluster    b   id 0        Base Pad            zone z
func world(c *client) {
	c.t.Helper()
	a := broker("a").having(append(named("Base", "Pad"),
		topicConfig{"Unit", 4, 6, 1}, topicConfig{"Sub", 4, 6, 2}, topicConfig{"UnitSub", 4, 6, 3})...)
	c.register(a, a.slave(1), broker("b").set("clusterName", "OtherCluster", "__ZONE_NAME", "z"))
}

// runRequests runs each row with both header forms.
func runRequests(t *testing.T, rows []requestRow, changes ...func(*settings.Settings)) {
	t.Helper()
	for _, row := range rows {
		for _, form := range []codec.SerializeType{codec.SerializeJSON, codec.SerializeROCKETMQ} {
			if row.jsonOnly && form == codec.SerializeROCKETMQ {
				continue
			}
			t.Run(row.name+", "+formName(form), func(t *testing.T) {
				c := start(t, changes...).dial()
				world(c)
				for _, r := range row.before {
					c.call(r)
				}
				row.r.form = form
				if beginning, cut := cutEllipsis(row.want); cut {
					c.wantPrefix(row.r, beginning)
				} else {
					c.want(row.r, row.want)
				}
			})
		}
	}
}

func cutEllipsis(want string) (beginning string, cut bool) {
	const ellipsis = "…"
	if n := len(want) - len(ellipsis); n >= 0 && want[n:] == ellipsis {
		return want[:n], true
	}
	return want, false
}

func TestUnknownRequests(t *testing.T) {
	runRequests(t, []requestRow{
		{name: "unknown", r: ask(9999), want: `3 " request type 9999 not supported"`},
		{name: "code 0", r: ask(0), want: `3 " request type 0 not supported"`},
		{name: "negative", r: ask(-25536), want: `3 " request type -25536 not supported"`},
		{name: "only ever sent by a nameserver", r: ask(905), want: `3 " request type 905 not supported"`},
		{name: "client configuration, gone since 5.2.0", r: ask(47), want: `3 " request type 47 not supported"`},
		{name: "controller's", r: ask(1003), want: `3 " request type 1003 not supported"`},
	})
}

// A response that nobody waits for is dropped; the connection stays.
func TestStrayResponse(t *testing.T) {
	c := start(t).dial()
	stray := routeOf("Base")
	stray.flag = codec.FlagResponse
	c.send(stray)
	c.wantCode(ask(106), 0)
	if len(c.early) > 0 {
		t.Errorf("answered: %v", c.early)
	}
}

// allRequests has a valid request of each code, and one that fails where there is one.
func allRequests() []request {
	a := broker("a")
	return []request{
		put("n", "k", "v"), ask(100), get("n", "k"), get("n", "none"), del("n", "k"), ask(102),
		a.again().request(), broker("c").having(named("Base")...).request(), a.set("bodyCrc32", "7").request(), a.without("brokerName").request(),
		broker("b").unregister(), ask(104), routeOf("Base"), routeOf("None"), ask(105), ask(106),
		ask(205, "brokerName", "a"), ask(206), ask(216, "topic", "Pad"), ask(217, "topic", "T"), ask(217, "topic", "T").with("no JSON"), ask(217),
		listKV("n"), listKV("none"), ask(224, "cluster", cluster), ask(304), ask(311), ask(312), ask(313),
		configure("waitSecondsForService=44"), configure("kvConfigPath=x"), configure(`a=\u00`), configure(""), ask(319),
		a.query(), a.query().with("no JSON"), ask(322), ask(327, "brokerName", "a"), ask(901, "brokerName", "a"), a.heartbeat(), ask(904),
		ask(9999),
	}
}

// No frame is ever written for a one-way request: no result, no error, no "not supported".
func TestOnewayIsNeverAnswered(t *testing.T) {
	for _, form := range []codec.SerializeType{codec.SerializeJSON, codec.SerializeROCKETMQ} {
		s := start(t)
		for _, r := range allRequests() {
			c := s.dial()
			world(c)
			r := r.oneway()
			r.form = form
			c.send(r)
			// One answer of each lane: whatever went before would have come first.
			c.want(ask(205, "brokerName", "nobody"), "0 {wipeTopicCount=0}")
			c.want(put("z", "z", "z"), "0")
			c.wantCode(ask(106), 0)
			if len(c.early) > 0 {
				t.Errorf("code %d: answered %v", r.code, c.early)
			}
		}
	}
}

// One-way requests take effect.
func TestOnewayTakesEffect(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.send(broker("a").request().oneway(), put("n", "k", "v").oneway(), configure("enableAllTopicList=false").oneway(),
		ask(216, "topic", "Pad").oneway())
	c.want(put("z", "z", "z"), "0")
	c.want(ask(205, "brokerName", "nobody"), "0 {wipeTopicCount=0}")
	c.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
	c.wantRoute("Pad", "none")
	c.want(get("n", "k"), "0 {value=v}")
	c.want(ask(206), `1 "disable"`)
	c.send(broker("a").unregister().oneway())
	c.want(ask(205, "brokerName", "a"), "0 {wipeTopicCount=0}")
}

// Answers are in the server's form, whatever the request's.
func TestServerSerializeType(t *testing.T) {
	for _, answers := range []codec.SerializeType{codec.SerializeJSON, codec.SerializeROCKETMQ} {
		t.Run(formName(answers), func(t *testing.T) {
			home := t.TempDir()
			s := newTestServer(t, home, Options{Settings: settings.Default(settings.Env{HomeDir: home}), SerializeType: answers})
			s.mustStart()
			c := s.dial()
			world(c)
			for _, r := range allRequests() {
				for _, form := range []codec.SerializeType{codec.SerializeJSON, codec.SerializeROCKETMQ} {
					r.form = form
					if a := c.call(r); a.form != answers {
						t.Errorf("code %d asked in %s: answered in %s", r.code, formName(form), formName(a.form))
					}
				}
			}
		})
	}
}

// Versions above the newest known count as newest; odd ones close nothing.
func TestOddVersions(t *testing.T) {
	for _, tt := range []struct {
		version  int32
		register string // code
		standard bool
	}{
		{612, "0", true}, {613, "0", true}, {9999, "0", true}, {32767, "0", true}, {401, "0", true},
		{400, "0", false}, {37, "0", false}, {0, "0", false}, {-1, "1", false}, {-32768, "1", false},
	} {
		for _, form := range []codec.SerializeType{codec.SerializeJSON, codec.SerializeROCKETMQ} {
			s := start(t)
			c := s.dial()
			c.register(broker("a"))
			r := from(broker("b"), tt.version).request()
			r.form = form
			if got := c.call(r).String(); got[:1] != tt.register {
				t.Errorf("registration of version %d: %s", tt.version, got)
			}
			q := routeOf("Base").from(tt.version)
			q.form = form
			ids := `{0:"a:10911"}`
			if tt.standard {
				ids = `{"0":"a:10911"}`
			}
			if a := c.call(q); a.code != 0 || a.body[:len(`{"brokerDatas":[{"brokerAddrs":`)+len(ids)] != `{"brokerDatas":[{"brokerAddrs":`+ids {
				t.Errorf("route of version %d: %s, want ids as in %s", tt.version, a, ids)
			}
		}
	}
}
