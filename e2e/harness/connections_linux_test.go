package harness

import (
	"net"
	"os"
	"strings"
	"testing"
)

// TestConnectionsOfThisProcess: a connection is listed under the address of its other end as long as it is open, and
// a listener is none.
func TestConnectionsOfThisProcess(t *testing.T) {
	listener, err := net.Listen("tcp4", Loopback(0))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	addr := listener.Addr().String()
	count := func() int {
		connections, err := connectionsOf(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		return connections[addr]
	}
	if n := count(); n != 0 {
		t.Errorf("%d connections to the listener before any was made", n)
	}
	var open []net.Conn
	for range 2 {
		conn, err := net.Dial("tcp4", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		open = append(open, conn)
	}
	if n := count(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
	open[0].Close()
	if n := count(); n != 1 {
		t.Errorf("%d connections after the end of one, want 1", n)
	}
}

// TestKernelTable: only established connections of the process's own sockets count; IPv4 is the same in both tables.
func TestKernelTable(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:9C40 0100007F:2694 01 00000000:00000000 00:00000000 00000000  1000        0 11 1 0 20 4 30 10 -1
   1: 0100007F:9C41 0100007F:2694 08 00000000:00000000 00:00000000 00000000  1000        0 12 1 0 20 4 30 10 -1
   2: 0100007F:9C42 0100007F:2694 01 00000000:00000000 00:00000000 00000000  1000        0 99 1 0 20 4 30 10 -1
   3: 0000000000000000FFFF00000100007F:9C43 0000000000000000FFFF00000100007F:2694 01 0:0 0:0 0 0 0 13 1 0 20 4 30 10 -1
`
	if addr, err := parseKernelAddr("0100007F:2694"); err != nil || addr.String() != "127.0.0.1:9876" {
		t.Skipf("the table is one of a little-endian machine: %v, %v", addr, err)
	}
	found := map[string]int{}
	if err := countEstablished(strings.NewReader(table), map[string]bool{"11": true, "12": true, "13": true}, found); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found["127.0.0.1:9876"] != 2 {
		t.Errorf("found %v, want 127.0.0.1:9876 twice", found)
	}
	for _, bad := range []string{"", "0100007F", "0100007:2694", "0100007F:26945", "01:1", "zz00007F:1"} {
		if addr, err := parseKernelAddr(bad); err == nil {
			t.Errorf("%q is taken as %v", bad, addr)
		}
	}
}
