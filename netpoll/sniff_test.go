package netpoll

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestSniff(t *testing.T) {
	v2 := func(command, family byte, addresses string) string {
		return string(proxyV2Magic) + string([]byte{command, family, byte(len(addresses) >> 8), byte(len(addresses))}) + addresses
	}
	v4 := "\xc0\x00\x02\x01\xc0\x00\x02\x02\x03\xe8\x07\xd0" // 192.0.2.1:1000 to 192.0.2.2:2000
	v6 := "\x20\x01\x0d\xb8" + strings.Repeat("\x00", 11) + "\x01" + strings.Repeat("\x00", 16) + "\x03\xe8\x07\xd0"
	const plain = "pipe"
	for _, tc := range []struct {
		name, head, addr string
		err              error
	}{
		{"frames", "", plain, nil},
		{"v1 TCP4", "PROXY TCP4 192.0.2.1 192.0.2.2 1000 2000\r\n", "192.0.2.1:1000", nil},
		{"v1 TCP6", "PROXY TCP6 2001:db8::1 2001:db8::2 1000 2000\r\n", "[2001:db8::1]:1000", nil},
		{"v1 UNKNOWN", "PROXY UNKNOWN\r\n", plain, nil},
		{"v1 UNKNOWN with addresses", "PROXY UNKNOWN ffff::1 ffff::2 1 2\r\n", plain, nil},
		{"v1 longest", "PROXY UNKNOWN " + strings.Repeat("f", 107-16) + "\r\n", plain, nil},
		{"v1 too long", "PROXY UNKNOWN " + strings.Repeat("f", 107-15) + "\r\n", "", ErrProxyHeader},
		{"v1 no end", "PROXY TCP4 " + strings.Repeat("1", 200), "", ErrProxyHeader},
		{"v1 wrong family", "PROXY TCP4 2001:db8::1 2001:db8::2 1000 2000\r\n", "", ErrProxyHeader},
		{"v1 bad address", "PROXY TCP4 1.2.3 192.0.2.2 1000 2000\r\n", "", ErrProxyHeader},
		{"v1 bad port", "PROXY TCP4 192.0.2.1 192.0.2.2 65536 2000\r\n", "", ErrProxyHeader},
		{"v1 port with zeros", "PROXY TCP4 192.0.2.1 192.0.2.2 01000 2000\r\n", "192.0.2.1:1000", nil},
		{"v1 field missing", "PROXY TCP4 192.0.2.1 192.0.2.2 1000\r\n", "", ErrProxyHeader},
		{"v1 word run on", "PROXYTCP4 192.0.2.1 192.0.2.2 1000 2000\r\n", "", ErrProxyHeader},
		{"v2 TCP4", v2(0x21, 0x11, v4), "192.0.2.1:1000", nil},
		{"v2 TCP4 with TLVs", v2(0x21, 0x11, v4+"\x05\x00\x02ab"), "192.0.2.1:1000", nil},
		{"v2 TCP6", v2(0x21, 0x21, v6), "[2001:db8::1]:1000", nil},
		{"v2 LOCAL", v2(0x20, 0x00, ""), plain, nil},
		{"v2 UNSPEC", v2(0x21, 0x00, ""), plain, nil},
		{"v2 unix", v2(0x21, 0x31, strings.Repeat("\x00", 216)), plain, nil},
		{"v2 addresses cut off", v2(0x21, 0x11, v4[:11]), "", ErrProxyHeader},
		{"v2 version 1", v2(0x11, 0x11, v4), "", ErrProxyHeader},
		{"v2 command 2", v2(0x22, 0x11, v4), "", ErrProxyHeader},
		{"v2 family 4", v2(0x21, 0x41, v4), "", ErrProxyHeader},
		{"v2 family without transport", v2(0x21, 0x10, v4), "", ErrProxyHeader},
		{"TLS hello", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "", ErrTLSHello},
		{"TLS behind PROXY", "PROXY UNKNOWN\r\n\x16\x03\x01", "", ErrTLSHello},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, chunk := range []int{1, 7, 1 << 20} {
				p, _ := newTestPipe(newEcho(), Options{})
				var got []byte
				var err error
				for b := append([]byte(tc.head), frameOf("payload")...); len(b) > 0 && err == nil; b = b[min(chunk, len(b)):] {
					var a []byte
					a, err = p.Feed(b[:min(chunk, len(b))])
					got = append(got, a...)
				}
				if !errors.Is(err, tc.err) || tc.err == nil && err != nil {
					t.Fatalf("chunks of %d: %v, want %v", chunk, err, tc.err)
				}
				if tc.err == nil && (!bytes.Equal(got, frameOf("payload")) || p.Conn().RemoteAddr() != tc.addr) {
					t.Fatalf("chunks of %d: answer %q, address %q", chunk, got, p.Conn().RemoteAddr())
				}
			}
		})
	}
}
