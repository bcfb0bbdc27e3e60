//go:build e2e

package e2e

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// TestTLS: a broker and clients that speak TLS to everybody find one another at a nameserver with default settings, whose
// certificate nobody knows, as in RocketMQ's own defaults.
func TestTLS(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, nameserver string) {
		n := newNameserver(t, programOf(t, nameserver))
		brokers, clients := newFirstBytes(t, n.Addr), newFirstBytes(t, n.Addr)
		inMatrix(t, nameserver, "broker", currentVersion, "tls.enable=true: registers inside TLS, and is gone when its connection is")
		b := newBroker(t, harness.BrokerConfig{
			Jars: shared.jars(t, currentVersion), Name: "broker-tls", Nameservers: []*harness.Nameserver{n},
			Properties: []string{"namesrvAddr=" + brokers.addr}, Options: []string{"-Dtls.enable=true"},
		})
		if err := b.Start(); err != nil {
			t.Fatal(err)
		}
		inMatrix(t, nameserver, "Java client", currentVersion, fmt.Sprintf("tls.enable=true: %d messages, nothing in the clear", headerMessages))
		c := startClients(t, currentVersion, "tls.enable=true")
		c.exchange(t, clients.addr, c.topic("TLS"))
		brokers.mustBe(t, tlsHello)
		clients.mustBe(t, tlsHello)
		b.Kill()
		err := harness.Eventually(strictLimit, func() error {
			return n.Ask(func(a *harness.Asker) error {
				known, err := a.HasBroker(b.Name, b.Addr)
				if err == nil && known {
					err = fmt.Errorf("the nameserver still lists %s", b.Addr)
				}
				return err
			})
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// tlsHello is the first byte of a connection that begins with TLS.
const tlsHello = 0x16

// firstBytes stands between peers and a nameserver and notes how their connections begin.
type firstBytes struct {
	addr string

	mu   sync.Mutex
	seen map[byte]int
}

func newFirstBytes(t *testing.T, target string) *firstBytes {
	t.Helper()
	l, err := net.Listen("tcp4", harness.Loopback(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	f := &firstBytes{addr: l.Addr().String(), seen: map[byte]int{}}
	go func() {
		for {
			peer, err := l.Accept()
			if err != nil {
				return
			}
			go f.pass(peer, target)
		}
	}()
	return f
}

// pass carries a connection until either side ends it.
func (f *firstBytes) pass(peer net.Conn, target string) {
	defer peer.Close()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		defer peer.Close()
		_, _ = io.Copy(peer, server)
	}()
	var first [1]byte
	if _, err := io.ReadFull(peer, first[:]); err != nil {
		return
	}
	f.mu.Lock()
	f.seen[first[0]]++
	f.mu.Unlock()
	if _, err := server.Write(first[:]); err == nil {
		_, _ = io.Copy(server, peer)
	}
}

// mustBe: connections have begun, and all with that byte.
func (f *firstBytes) mustBe(t *testing.T, first byte) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[first] == 0 || len(f.seen) > 1 {
		t.Errorf("connections begin with %v (byte: times), want %d alone", f.seen, first)
	}
}
