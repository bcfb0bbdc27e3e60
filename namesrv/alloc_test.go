package namesrv

import (
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/internal/invariants"
	"github.com/waymark-mq/waymark/internal/raceflag"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// Route queries and heartbeats allocate nothing, from the frame to the answer.
func TestHotPathAllocatesNothing(t *testing.T) {
	if raceflag.Enabled || invariants.Enabled {
		t.Skip("this build allocates by itself")
	}
	a := broker("a")
	slave := a.slave(1)
	unknown := broker("unknown")
	long := routeOf("Base")
	long.fields = append(long.fields, ask(0, "ns", "x", "nsd", "y", "ReqT", "0", "AccessKey", "k", "Signature", "s").fields...)
	for _, tt := range []struct {
		name   string
		r      request
		silent bool
	}{
		{"105 hit, standard", routeOf("Base"), false},
		{"105 hit, legacy", routeOf("Base").from(317), false},
		{"105 hit, standard by field", ask(105, "topic", "Base", "acceptStandardJsonOnly", "true").from(317), false},
		{"105 hit, many fields", long, false},
		{"105 hit, escaped topic", routeOf("quoted\"topic"), false},
		{"105 hit, zone without mode", ask(105, "topic", "Base", "__ZONE_NAME", "z"), false},
		{"105 miss, standard", routeOf("None"), false},
		{"105 miss, legacy", routeOf("None").from(317), false},
		{"105 one-way", routeOf("Base").oneway(), true},
		{"904 known", a.heartbeat(), false},
		{"904 known, slave", slave.heartbeat(), false},
		{"904 unknown", unknown.heartbeat(), false},
		{"904 known, one-way", a.heartbeat().oneway(), true},
		{"904 unknown, one-way", unknown.heartbeat().oneway(), true},
		{"322 one-way", a.query().oneway(), true},
	} {
		for _, answers := range []codec.SerializeType{codec.SerializeJSON, codec.SerializeROCKETMQ} {
			for _, form := range []codec.SerializeType{codec.SerializeJSON, codec.SerializeROCKETMQ} {
				name := tt.name + ", " + formName(form) + " asked, " + formName(answers) + " answered"
				t.Run(name, func(t *testing.T) {
					s := newTestServer(t, t.TempDir(), Options{Settings: settings.Default(settings.Env{HomeDir: t.TempDir()}), SerializeType: answers})
					s.mustStart()
					c := s.dial()
					c.register(a.having(named("Base", "quoted\"topic")...), slave)
					r := tt.r
					r.form = form
					if n := s.allocsPerFrame(r, tt.silent); n != 0 {
						t.Errorf("%v allocations per request", n)
					}
				})
			}
		}
	}
}

func formName(t codec.SerializeType) string {
	return map[codec.SerializeType]string{codec.SerializeJSON: "JSON", codec.SerializeROCKETMQ: "ROCKETMQ"}[t]
}

// allocsPerFrame measures LoopHandler.Frame with a buffer that has room.
func (s *testServer) allocsPerFrame(r request, silent bool) float64 {
	loop := s.NewLoop()
	conn := s.pipe().Conn() // its Context is a session, as Open made it
	frame := r.frame(1_000_000)
	dst := make([]byte, 0, 64<<10)
	var err error
	run := func() {
		if dst, err = loop.Frame(conn, dst[:0], frame, s.clock.Now()); err != nil {
			s.t.Fatal(err)
		}
	}
	run() // takes the ownership, and makes the scratch
	if (len(dst) == 0) != silent {
		s.t.Fatalf("%d bytes answered", len(dst))
	}
	return testing.AllocsPerRun(200, run)
}
