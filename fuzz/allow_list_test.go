package fuzz

import (
	"net"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/access"
)

// FuzzAllowList: a list that is taken has the addresses that package net, another implementation, finds in its entries; what is
// no address is in none.
func FuzzAllowList(f *testing.F) {
	for _, text := range []string{"10.0.0.0/8,::1", "::ffff:10.1.2.0/120", "fe80::1%x", "0.0.0.0/0;::/0", "10.1.2.3/0", " ", "\x00", "fe80::/64"} {
		f.Add(text, "10.1.2.3:1")
		f.Add(text, "[::ffff:10.1.2.3]:1")
		f.Add(text, "[fe80::1%x]:80")
		f.Add(text, "pipe")
	}
	f.Fuzz(func(t *testing.T, text, peer string) {
		l, err := access.ParseList(text)
		if err != nil {
			if !l.Empty() {
				t.Fatalf("%q: refused, but not empty", text)
			}
			return
		}
		addr := access.Peer(peer)
		if !addr.IsValid() {
			if l.Has(addr) {
				t.Fatalf("%q has %q, which is no address", text, peer)
			}
			return
		}
		entries := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r <= ' ' })
		ip, want := net.IP(addr.AsSlice()), false
		for _, e := range entries {
			if _, network, err := net.ParseCIDR(e); err == nil {
				want = want || network.Contains(ip)
			} else if one := net.ParseIP(e); one != nil {
				want = want || one.Equal(ip)
			} else {
				t.Fatalf("%q was taken, with %q", text, e)
			}
		}
		if l.Has(addr) != want || l.Empty() != (len(entries) == 0) {
			t.Fatalf("%q has %v: %v, want %v", text, addr, !want, want)
		}
	})
}
