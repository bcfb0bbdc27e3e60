package fleet

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/bench/phase"
	"github.com/waymark-mq/waymark/bench/topology"
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/profiles"
)

func topologyOf(w *profiles.Workload) *topology.Topology { return topology.New(&w.Fleet, w.Seed) }

// nameserver notes what brokers send, and answers registrations.
type nameserver struct {
	addr string
	code int32 // of its answers

	mu                 sync.Mutex
	registered         map[string][]*codec.RegisterBody
	release            map[string]int32
	beats, ends, wrong int
}

func startNameserver(t *testing.T, code int32) *nameserver {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameserver{addr: l.Addr().String(), code: code, registered: map[string][]*codec.RegisterBody{}, release: map[string]int32{}}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait()
	})
	return s
}

func (s *nameserver) serve(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		var length [4]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			break
		}
		b := append(length[:], make([]byte, binary.BigEndian.Uint32(length[:]))...)
		if _, err := io.ReadFull(r, b[4:]); err != nil {
			break
		}
		if answer := s.handle(b); answer != nil {
			if _, err := c.Write(answer); err != nil {
				break
			}
		}
	}
	s.mu.Lock()
	s.ends++
	s.mu.Unlock()
}

func (s *nameserver) handle(b []byte) (answer []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var c codec.Command
	f, err := codec.ParseFrame(b)
	if err == nil {
		err = c.Parse(f)
	}
	name, ok := c.Field("brokerName")
	if err != nil || !ok {
		s.wrong++
		return nil
	}
	if c.Code == codec.RequestBrokerHeartbeat && c.IsOneway() {
		s.beats++
		return nil
	}
	body, err := codec.ParseRegisterBody(c.Body, &codec.RegisterBodyOptions{Version: c.Version})
	crc, _ := c.Int32("bodyCrc32")
	if err != nil || c.Code != codec.RequestRegisterBroker || crc != codec.BodyCRC(c.Body) {
		s.wrong++
		return nil
	}
	s.registered[string(name)] = append(s.registered[string(name)], body)
	s.release[string(name)] = c.Version
	return codec.AppendFrame(nil, f.Type, &codec.Header{Code: s.code, Opaque: c.Opaque, Flag: codec.FlagResponse, Version: 513}, nil)
}

func smallFleet() *profiles.Workload {
	return &profiles.Workload{Seed: 1, Duration: 300 * time.Millisecond, Fleet: profiles.Fleet{
		Clusters: 2, Brokers: 6, Topics: 10, BrokersPerTopic: 2, Queues: 8, Release: 5,
	}}
}

func TestFillAndLife(t *testing.T) {
	for _, release := range []int{4, 5} {
		s := startNameserver(t, 0)
		w := smallFleet()
		w.Warmup = 150 * time.Millisecond
		f := &w.Fleet
		f.Release, f.Heartbeat, f.Register, f.Changed = release, 50*time.Millisecond, 100*time.Millisecond, 1
		f.Death = profiles.Death{Brokers: 2, First: 120 * time.Millisecond, Back: 100 * time.Millisecond}
		fleet := New(s.addr, w, topologyOf(w))
		first, err := fleet.Fill()
		if err != nil || first.Latency.Count != 6 || fleet.BodyBytes() < 300 {
			fleet.Close()
			t.Fatalf("%+v, %v, bodies of %d bytes", first, err, fleet.BodyBytes())
		}
		o := fleet.Run(phase.Of(w, phase.Now()))
		fleet.Close()
		if o.Deaths != 2 || o.Comebacks.Latency.Count != 2 || o.LostCount != 0 || o.Heartbeats < 12 {
			t.Errorf("release %d: %+v", release, o)
		}
		// Each registers at three times; the dead miss one of theirs and stay a whole period behind at most.
		if n := o.Registrations.Latency.Count; n < 12 || n > 18 || fleet.Registered() != n+2 {
			t.Errorf("release %d: %d registrations, %d with those of the dead", release, n, fleet.Registered())
		}
		if all := fleet.Acknowledged(); all <= fleet.Registered() || all > 6*6+2 {
			t.Errorf("release %d: %d acknowledged in all phases", release, all)
		}
		s.mu.Lock()
		if s.wrong > 0 || s.beats == 0 {
			t.Errorf("release %d: %d frames are wrong, %d heartbeats", release, s.wrong, s.beats)
		}
		for name, bodies := range s.registered {
			if len(bodies) < 2 || len(bodies[0].Topics)+2 < 10*2/6 || s.release[name] != map[int]int32{4: 407, 5: 513}[release] {
				t.Errorf("release %d: %s registered %d times, %d topics, version %d", release, name, len(bodies), len(bodies[0].Topics), s.release[name])
			}
		}
		s.mu.Unlock()
	}
}

func TestFaultsAreCounted(t *testing.T) {
	s := startNameserver(t, codec.ResponseSystemBusy)
	w := smallFleet()
	fleet := New(s.addr, w, topologyOf(w))
	r, err := fleet.Fill()
	fleet.Close()
	if err != nil || r.Refused[codec.ResponseSystemBusy] != 6 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := New("127.0.0.1:1", w, topologyOf(w)).Fill(); err == nil {
		t.Error("a nameserver that isn't there is no error")
	}
}
