//go:build faults && linux

package faults

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/e2e/harness"
)

// TestIPv6Only: on a machine that has no IPv4 address the server starts with its default address, brokers register under
// bracketed addresses, with a zone too, come out of routes as they sent them, and are notified there (905).
func TestIPv6Only(t *testing.T) {
	const port = 9876 // everything is free in a new namespace
	for name, addr := range map[string]string{"global": "2001:db8::1", "link-local": "fe80::1%lo"} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			writeFile(t, s.config, fmt.Sprintf("listenPort=%d\nnotifyMinBrokerIdChanged=true\n", port))
			s.addr = fmt.Sprintf("[%s]:%d", addr, port)
			withoutIPv4(t, "2001:db8::1/128", "fe80::1/64")
			slave, err := net.Listen("tcp6", fmt.Sprintf("[%s]:0", addr))
			if err != nil {
				t.Fatal(err)
			}
			defer slave.Close()
			slaveAddr := fmt.Sprintf("[%s]:%d", addr, slave.Addr().(*net.TCPAddr).Port) // what the kernel tells has no zone

			p := s.start()
			c := s.dial()
			master := fmt.Sprintf("[%s]:10911", addr)
			c.want(codec.ResponseSuccess, acting("0", master))
			c.want(codec.ResponseSuccess, acting("1", slaveAddr))
			want := fmt.Sprintf(`{"0":%q,"1":%q}`, master, slaveAddr)
			if a := c.want(codec.ResponseSuccess, route("OverIPv6")); !strings.Contains(a.body, `"brokerAddrs":`+want) {
				t.Errorf("addresses are not %s: %s", want, a.body)
			}

			c.want(codec.ResponseSuccess, ask(codec.RequestUnregisterBroker,
				"clusterName", cluster, "brokerName", "broker-6", "brokerAddr", master, "brokerId", "0"))
			wantMinBrokerID(t, slave, slaveAddr)
			p.stop()
		})
	}
}

// acting is the registration of a broker whose slaves stand in for it.
func acting(id, addr string) request {
	r := registration("broker-6", time.Minute, 1, "OverIPv6", "pad").with("brokerId", id).with("brokerAddr", addr).with("haServerAddr", addr)
	r.fields = append(r.fields, codec.ExtField{Name: "enableActingMaster", Value: "true"})
	return r
}

// wantMinBrokerID waits for the notification that a broker has become the one with the smallest id.
func wantMinBrokerID(t *testing.T, at net.Listener, addr string) {
	t.Helper()
	_ = at.(*net.TCPListener).SetDeadline(time.Now().Add(waitLimit))
	conn, err := at.Accept()
	if err != nil {
		t.Fatalf("%s is not notified: %v", addr, err)
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(waitLimit))
	header, _, err := readFrame(bufio.NewReader(conn))
	if err != nil {
		t.Fatal(err)
	}
	var told struct {
		Code      int32
		ExtFields map[string]string
	}
	if err := json.Unmarshal(header, &told); err != nil {
		t.Fatal(err)
	}
	if told.Code != codec.RequestNotifyMinBrokerIDChange || told.ExtFields["minBrokerId"] != "1" || told.ExtFields["minBrokerAddr"] != addr {
		t.Errorf("notified of %s", header)
	}
}

// withoutIPv4 moves the test to a place where there is nothing but IPv6, or skips it.
func withoutIPv4(t *testing.T, addrs ...string) {
	t.Helper()
	if err := harness.EnterIPv6Only(addrs...); err != nil {
		t.Skip(err)
	}
	if l, err := net.Listen("tcp4", "127.0.0.1:0"); err == nil {
		_ = l.Close()
		t.Fatal("there is an IPv4 address")
	}
}
