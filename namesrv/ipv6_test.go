package namesrv

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// IPv6 addresses, with zones too, come out of routes as brokers sent them.
func TestIPv6AddressesAreText(t *testing.T) {
	c := start(t).dial()
	addrs := map[string]string{"a": "[2001:db8::1]:10911", "b": "[fe80::1%eth0]:10911", "c": "[::ffff:192.0.2.1]:10911"}
	for name, addr := range addrs {
		c.register(broker(name).set("brokerAddr", addr, "haServerAddr", strings.Replace(addr, "10911", "10912", 1)))
	}
	for _, version := range []int32{317, codec.ServerVersion} {
		a := c.call(routeOf("Base").from(version))
		for name, addr := range addrs {
			key := map[bool]string{true: `"0"`, false: `0`}[version == codec.ServerVersion]
			if want := `{"brokerAddrs":{` + key + `:"` + addr + `"},"brokerName":"` + name + `"`; !strings.Contains(a.body, want) {
				t.Errorf("version %d: %s is not in %s", version, want, a.body)
			}
		}
	}
	c.want(broker("b").set("brokerAddr", addrs["b"]).heartbeat(), "0")
	for name, addr := range addrs {
		c.want(broker(name).set("brokerAddr", addr).unregister(), "0")
	}
	c.wantRoute("Base", "none")
}

// On an IPv6 address the server is reached, and brokers behind such addresses are notified (905).
func TestIPv6Sockets(t *testing.T) {
	slave, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skipf("no IPv6 here: %v", err)
	}
	defer slave.Close()
	s := start(t, func(c *settings.Settings) { c.NotifyMinBrokerIDChanged = true })
	for _, bind := range []string{"::1", "::"} {
		t.Run(bind, func(t *testing.T) {
			c := settings.Default(settings.Env{HomeDir: t.TempDir()})
			s := newTestServer(t, t.TempDir(), Options{Settings: c})
			c.BindAddress = bind
			s.mustStart()
			_, port, _ := net.SplitHostPort(s.Addr())
			hosts := []string{"::1"}
			if bind == "::" {
				hosts = append(hosts, "127.0.0.1") // both kinds on one socket
			}
			for _, host := range hosts {
				conn, err := net.DialTimeout("tcp", net.JoinHostPort(host, port), waitLimit)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				if _, err := conn.Write(routeOf("None").frame(1)); err != nil {
					t.Fatal(err)
				}
				_ = conn.SetReadDeadline(time.Now().Add(waitLimit))
				if a, err := readAnswer(conn); err != nil || a.code != codec.ResponseTopicNotExist {
					t.Errorf("over %s: %v, %v", host, a, err)
				}
			}
		})
	}
	c := s.dial()
	acting := broker("a").set("enableActingMaster", "true")
	c.register(acting, acting.slave(1).set("brokerAddr", slave.Addr().String()))
	c.want(acting.unregister(), "0")
	_ = slave.(*net.TCPListener).SetDeadline(time.Now().Add(waitLimit))
	conn, err := slave.Accept()
	if err != nil {
		t.Fatalf("the slave on %s is not told: %v", slave.Addr(), err)
	}
	_ = conn.Close()
}
