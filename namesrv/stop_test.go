package namesrv

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// ourGoroutines are the stacks of goroutines that run code of this project, the caller's and the tests' own aside.
func ourGoroutines() (stacks []string) {
	buf := make([]byte, 1<<20)
	for _, stack := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(stack, "waymark/") && !strings.Contains(stack, "testing.tRunner") && !strings.Contains(stack, "testing.(*T)") &&
			!strings.Contains(stack, "_test.go") || strings.Contains(stack, "panjf2000/gnet") {
			stacks = append(stacks, stack)
		}
	}
	return stacks
}

func wantNoGoroutines(t *testing.T) {
	t.Helper()
	var left []string
	eventually(t, "goroutines end", func() bool {
		if left = ourGoroutines(); len(left) > 0 && t.Failed() {
			t.Log(strings.Join(left, "\n\n"))
		}
		return len(left) == 0
	})
}

func TestStopLeavesNoGoroutine(t *testing.T) {
	wantNoGoroutines(t) // none left by other tests
	s := start(t, notifying)
	b0, b1 := listenAsBroker(t), listenAsBroker(t)
	c := s.dial()
	c.register(b1.member(1, true), b0.member(0, true))
	b1.want("haBrokerAddr=ha:0 minBrokerAddr=" + b0.addr + " minBrokerId=0")
	c.want(put("n", "k", "v"), "0")
	if len(ourGoroutines()) < 5 {
		t.Fatalf("the server's goroutines are not found: %s", ourGoroutines())
	}
	s.stop()
	c.wantClosed()
	wantNoGoroutines(t)
	if _, err := net.Dial("tcp", s.Addr()); err == nil {
		t.Error("the port still takes connections")
	}
}

// A taken port is an error that names it, and leaves nothing running.
func TestStartOnTakenPort(t *testing.T) {
	first := start(t)
	addr := first.Addr()
	_, port, _ := net.SplitHostPort(addr)
	home := t.TempDir()
	c := settings.Default(settings.Env{HomeDir: home})
	second := newTestServer(t, home, Options{Settings: c})
	if _, err := fmt.Sscan(port, &c.ListenPort); err != nil {
		t.Fatal(err)
	}
	err := second.Start()
	if err == nil || !strings.Contains(err.Error(), addr) {
		t.Errorf("error %v, want one that names %s", err, addr)
	}
	first.dial().wantCode(ask(106), 0)
	first.stop()
	wantNoGoroutines(t)
}

// A bad KV file stops the start before anything runs.
func TestNewWithBadKVFile(t *testing.T) {
	home := t.TempDir()
	c := settings.Default(settings.Env{HomeDir: home})
	mustWrite(t, c.KVConfigPath, "text")
	if _, err := New(Options{Settings: c}); err == nil || !strings.Contains(err.Error(), c.KVConfigPath) {
		t.Errorf("error %v, want one that names %s", err, c.KVConfigPath)
	}
}

// What was acknowledged before the stop is done; what is on its way is done or its connection ends.
func TestStopWithTraffic(t *testing.T) {
	for range 5 {
		s := start(t)
		seed := s.dial()
		seed.register(broker("a"))
		var wg sync.WaitGroup
		for i := range 6 {
			c := s.dial()
			wg.Add(1)
			go func() {
				defer wg.Done()
				for n := int64(0); ; n++ {
					requests := []request{broker(fmt.Sprint("b", i)).counter(n).request(), put("n", fmt.Sprint(i), fmt.Sprint(n)), routeOf("Base"), broker("a").query()}
					for _, r := range requests {
						c.opaque++
						if _, err := c.conn.Write(r.frame(c.opaque)); err != nil {
							return
						}
						if _, err := c.next(); err != nil {
							return
						}
					}
				}
			}()
		}
		eventually(t, "traffic", func() bool { return s.table.Load().Brokers() == 7 })
		s.stop()
		wg.Wait()
		if n := s.writeBytes.Load(); n != 0 {
			t.Errorf("%d bytes of requests are neither done nor dropped", n)
		}
	}
	wantNoGoroutines(t)
}

// The server's own end is no broker's.
func TestStopRemovesNoBroker(t *testing.T) {
	s := start(t)
	p := s.pipe()
	session := p.Conn().Context.(*session)
	if _, err := p.Feed(broker("a").request().frame(1)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the registration", func() bool { return session.pending.Load() == 0 })
	s.stop()
	p.Close()
	if n := session.pending.Load(); n != 0 {
		t.Errorf("%d requests queued by the end of a connection", n)
	}
	if n := s.table.Load().Brokers(); n != 1 {
		t.Errorf("%d brokers, want 1", n)
	}
}

// Clients take "no such topic" for a fact, so a server that is stopping never says it of
// a topic it had: brokers' connections end first as well as last.
func TestStopNeverSaysTopicNotExist(t *testing.T) {
	for range 2 {
		s := start(t)
		for i := range 4 {
			s.dial().register(broker(fmt.Sprint("b", i)))
		}
		var wg sync.WaitGroup
		var lost sync.Map
		for range 4 {
			c := s.dial()
			var batch []byte
			for i := range int32(500) {
				batch = append(batch, routeOf("Base").frame(i)...)
			}
			wg.Add(2)
			go func() {
				defer wg.Done()
				for {
					if _, err := c.conn.Write(batch); err != nil {
						return
					}
				}
			}()
			go func() {
				defer wg.Done()
				for {
					a, err := c.next()
					if err != nil {
						return
					}
					if line, err := routeLine(a.body); a.code != 1 && (a.code != 0 || err != nil || strings.Count(line, "{") != 4) {
						lost.Store(a.String(), true)
					}
				}
			}()
		}
		eventually(t, "the clients' connections", func() bool { return s.net.ConnCount() == 8 })
		s.stop()
		wg.Wait()
		lost.Range(func(answer, _ any) bool {
			t.Errorf("answered while stopping: %s", answer)
			return true
		})
	}
}

// A server can be stopped right after its start, and its port be bound again.
func TestStartStopStart(t *testing.T) {
	s := start(t)
	s.stop()
	home := t.TempDir()
	again := newTestServer(t, home, Options{Settings: settings.Default(settings.Env{HomeDir: home})})
	again.settings.Load().ListenPort = s.settings.Load().ListenPort
	again.mustStart()
	if again.Addr() != s.Addr() {
		t.Errorf("address %s, want %s", again.Addr(), s.Addr())
	}
	again.stop()
	if err := again.Stop(context.Background()); err != nil {
		t.Errorf("second stop: %v", err)
	}
}

// A server that was never started can be stopped.
func TestStopWithoutStart(t *testing.T) {
	home := t.TempDir()
	s := newTestServer(t, home, Options{Settings: settings.Default(settings.Env{HomeDir: home})})
	if err := s.Stop(context.Background()); err != nil {
		t.Error(err)
	}
}
