package harness

import (
	"net"
	"testing"
)

func TestFreeBrokerPortIsNeverHandedOutTwice(t *testing.T) {
	seen := map[int]bool{}
	for range 20 {
		base, err := FreeBrokerPort()
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range []int{base - 2, base, base + 1} {
			if seen[port] {
				t.Fatalf("port %d handed out twice", port)
			}
			seen[port] = true
		}
	}
}

func TestAllFree(t *testing.T) {
	base, err := FreeBrokerPort()
	if err != nil {
		t.Fatal(err)
	}
	if allFree(base, []int{0}) {
		t.Errorf("port %d is free though it is claimed", base)
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := listener.Addr().(*net.TCPAddr).Port
	for name, offset := range map[string]int{"itself": 0, "two below": -2, "one above": 1} {
		if allFree(taken-offset, []int{offset}) {
			t.Errorf("%s: port %d is free though somebody listens", name, taken)
		}
	}
}
