package netpoll

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
)

var (
	proxyV1Magic = []byte("PROXY")
	proxyV2Magic = []byte("\r\n\r\n\x00\r\nQUIT\n")
)

const (
	proxyV1MaxBytes    = 107 // the longest line the protocol allows, CRLF included
	proxyV2HeaderBytes = 16

	proxyV2Local = 0x20 // version 2, command LOCAL
	proxyV2Proxy = 0x21
)

// proxyV2AddressBytes is the size of the addresses for each family and transport that exists; others are malformed.
var proxyV2AddressBytes = map[byte]int{0x00: 0, 0x11: 12, 0x12: 12, 0x21: 36, 0x22: 36, 0x31: 216, 0x32: 216}

// parseProxyV1 reads "PROXY TCP4 source destination sourcePort destinationPort\r\n". "PROXY UNKNOWN …" keeps the socket's
// address. Source: The PROXY protocol, versions 1 & 2, section 2.1.
func parseProxyV1(b []byte) (sniffed, error) {
	end := bytes.Index(b[:min(len(b), proxyV1MaxBytes)], []byte("\r\n"))
	if end < 0 {
		if len(b) >= proxyV1MaxBytes {
			return sniffed{}, ErrProxyHeader
		}
		return sniffed{need: len(b) + 1, next: stageFresh}, nil
	}
	done := sniffed{skip: end + 2, next: stageProxied}
	fields := strings.Split(string(b[:end]), " ")
	if len(fields) >= 2 && fields[0] == "PROXY" && fields[1] == "UNKNOWN" {
		return done, nil
	}
	if len(fields) != 6 || fields[0] != "PROXY" {
		return sniffed{}, ErrProxyHeader
	}
	source, ok := proxyV1Address(fields[1], fields[2], fields[4])
	_, ok2 := proxyV1Address(fields[1], fields[3], fields[5])
	if !ok || !ok2 {
		return sniffed{}, ErrProxyHeader
	}
	done.source = source
	return done, nil
}

func proxyV1Address(family, host, port string) (string, bool) {
	addr, err := netip.ParseAddr(host)
	if err != nil || addr.Zone() != "" {
		return "", false
	}
	if !(family == "TCP4" && addr.Is4()) && !(family == "TCP6" && addr.Is6()) {
		return "", false
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return "", false
	}
	return netip.AddrPortFrom(addr, uint16(n)).String(), true
}

// parseProxyV2 reads the binary form: magic, version and command, family, length, addresses, TLVs (skipped). LOCAL and
// other families than IP keep the socket's address. Source: the same document, section 2.2.
func parseProxyV2(b []byte) (sniffed, error) {
	if len(b) < proxyV2HeaderBytes {
		return sniffed{need: proxyV2HeaderBytes, next: stageFresh}, nil
	}
	command, family := b[12], b[13]
	length := int(binary.BigEndian.Uint16(b[14:]))
	need, known := proxyV2AddressBytes[family]
	if command != proxyV2Local && command != proxyV2Proxy || !known {
		return sniffed{}, ErrProxyHeader
	}
	if command == proxyV2Proxy && length < need {
		return sniffed{}, ErrProxyHeader
	}
	if len(b) < proxyV2HeaderBytes+length {
		return sniffed{need: proxyV2HeaderBytes + length, next: stageFresh}, nil
	}
	done := sniffed{skip: proxyV2HeaderBytes + length, next: stageProxied}
	if command == proxyV2Local { // the proxy itself, a health check
		return done, nil
	}
	addresses := b[proxyV2HeaderBytes:]
	switch family >> 4 {
	case 1:
		done.source = netip.AddrPortFrom(netip.AddrFrom4([4]byte(addresses)), binary.BigEndian.Uint16(addresses[8:])).String()
	case 2:
		done.source = netip.AddrPortFrom(netip.AddrFrom16([16]byte(addresses)), binary.BigEndian.Uint16(addresses[32:])).String()
	}
	return done, nil
}
