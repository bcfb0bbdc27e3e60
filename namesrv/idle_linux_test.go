package namesrv

import (
	"net"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/waymark-mq/waymark/internal/invariants"
	"github.com/waymark-mq/waymark/internal/raceflag"
	"github.com/waymark-mq/waymark/netpoll"
)

// What a connection holds is there as often as there are clients. The bounds are the allocator's size classes: the next
// one is worth a thought.
func TestConnectionIsSmall(t *testing.T) {
	for _, tt := range []struct {
		name        string
		bytes, most uintptr
	}{
		{"session", unsafe.Sizeof(session{}), 128},
		{"netpoll.Conn", unsafe.Sizeof(netpoll.Conn{}), 240},
	} {
		if tt.bytes > tt.most {
			t.Errorf("%s: %d bytes, at most %d wanted", tt.name, tt.bytes, tt.most)
		}
	}
}

// All that an idle connection holds of the heap: ours, the event loop's, and what a map of connections has room for.
func TestIdleConnectionHoldsLittle(t *testing.T) {
	if raceflag.Enabled || invariants.Enabled {
		t.Skip("this build holds more")
	}
	const most, connections = 1000, 400 // bytes of each
	for _, tt := range []struct {
		name  string
		asked []request
	}{
		{"polls", []request{routeOf("Base"), routeOf("Base")}},
		{"asks in vain", []request{routeOf("None")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t)
			s.dial().register(broker("a"))
			var frames []byte
			for i, r := range tt.asked {
				frames = append(frames, r.frame(int32(i+1))...)
			}
			answers, err := s.pipe().Feed(frames)
			if err != nil {
				t.Fatal(err)
			}
			want := len(answers)
			peers := barePeers{t: t, to: s.net.Addr().(*net.TCPAddr).Port, fds: make([]int, 0, 100+connections)}
			defer peers.close()
			for range 100 { // tables grow in steps
				peers.ask(peers.dial(), frames, want)
			}
			before := heapBytes()
			for range connections {
				peers.ask(peers.dial(), frames, want)
			}
			held := (heapBytes() - before) / connections
			t.Logf("%d bytes", held)
			if held > most {
				t.Errorf("%d bytes held by each connection, at most %d wanted", held, most)
			}
		})
	}
}

// barePeers are connections that hold nothing of the heap on their side.
type barePeers struct {
	t   *testing.T
	to  int // loopback port
	fds []int
}

func (p *barePeers) dial() (fd int) {
	p.t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		p.t.Fatal(err)
	}
	p.fds = append(p.fds, fd)
	wait := syscall.NsecToTimeval(int64(waitLimit))
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &wait); err != nil {
		p.t.Fatal(err)
	}
	if err := syscall.Connect(fd, &syscall.SockaddrInet4{Port: p.to, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		p.t.Fatal(err)
	}
	return fd
}

// ask sends frames and reads so many bytes of answers.
func (p *barePeers) ask(fd int, frames []byte, want int) {
	p.t.Helper()
	if _, err := syscall.Write(fd, frames); err != nil {
		p.t.Fatal(err)
	}
	var buf [4096]byte
	for want > 0 {
		n, err := syscall.Read(fd, buf[:])
		switch {
		case err == syscall.EINTR: // the scheduler's signal
			continue
		case n <= 0:
			p.t.Fatalf("%d bytes of the answers missing: read %d, %v", want, n, err)
		}
		want -= n
	}
}

func (p *barePeers) close() {
	for _, fd := range p.fds {
		_ = syscall.Close(fd)
	}
}

// heapBytes is what is reachable.
func heapBytes() int {
	var m runtime.MemStats
	for range 2 { // the first empties pools
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
