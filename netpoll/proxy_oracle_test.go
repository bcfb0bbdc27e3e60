package netpoll

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/pires/go-proxyproto"
	"pgregory.net/rapid"
)

// verdict is what became of a PROXY header.
type verdict struct {
	good   bool
	used   int
	source string // "": the socket's
}

// oracle reads b with another implementation.
func oracle(b []byte) verdict {
	r := bufio.NewReaderSize(bytes.NewReader(b), 1<<17)
	h, err := proxyproto.Read(r)
	if err != nil {
		return verdict{}
	}
	v := verdict{good: true, used: len(b) - r.Buffered()}
	if addr, ok := h.SourceAddr.(*net.TCPAddr); ok && !h.Command.IsLocal() {
		v.source = addr.AddrPort().String()
	}
	if addr, ok := h.SourceAddr.(*net.UDPAddr); ok && !h.Command.IsLocal() {
		v.source = addr.AddrPort().String()
	}
	return v
}

// ours reads b with sniff; it has all of it, so that wanting more means that the header is cut short.
func ours(b []byte) verdict {
	s, err := sniff(b, stageFresh)
	if err != nil || s.need > 0 || !s.proxy {
		return verdict{}
	}
	return verdict{true, s.skip, s.source}
}

func drawV1(t *rapid.T) []byte {
	family := rapid.SampledFrom([]string{"TCP4", "TCP6", "UNKNOWN", "TCP", "tcp4", ""}).Draw(t, "family")
	word := func(name string) string {
		switch rapid.IntRange(0, 9).Draw(t, name+" kind") {
		case 0:
			return rapid.SampledFrom([]string{"", "x", "1.2.3", "::", "256.1.1.1", "1.2.3.4.5", "::ffff:1.2.3.4", "fe80::1%eth0"}).Draw(t, name)
		case 1:
			return "2001:db8::" + fmt.Sprint(rapid.IntRange(0, 9999).Draw(t, name))
		}
		if family == "TCP6" {
			return "2001:db8::" + fmt.Sprint(rapid.IntRange(0, 9999).Draw(t, name))
		}
		return fmt.Sprintf("10.%d.0.%d", rapid.IntRange(0, 255).Draw(t, name), rapid.IntRange(0, 255).Draw(t, name))
	}
	port := func(name string) string {
		if rapid.IntRange(0, 9).Draw(t, name+" kind") == 0 {
			return rapid.SampledFrom([]string{"", "-1", "65536", "x", "+1"}).Draw(t, name)
		}
		return fmt.Sprint(rapid.IntRange(0, 65535).Draw(t, name))
	}
	fields := []string{"PROXY", family, word("source"), word("destination"), port("source port"), port("destination port")}
	if n := rapid.IntRange(0, 12).Draw(t, "fields"); n <= len(fields) && n > 0 {
		fields = fields[:n]
	}
	end := "\r\n"
	if rapid.IntRange(0, 9).Draw(t, "end") == 0 {
		end = rapid.SampledFrom([]string{"\n", "\r", "", " \r\n", "\x00\r\n"}).Draw(t, "other end")
	}
	return []byte(strings.Join(fields, " ") + end)
}

func drawV2(t *rapid.T) []byte {
	command := rapid.SampledFrom([]byte{0x20, 0x21, 0x21, 0x21, 0x22, 0x11, 0x00, 0x2f}).Draw(t, "command")
	family := rapid.SampledFrom([]byte{0x00, 0x11, 0x12, 0x21, 0x22, 0x31, 0x32, 0x10, 0x01, 0x13, 0x41, 0xff}).Draw(t, "family")
	body := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "body")
	if n, known := proxyV2AddressBytes[family]; known && rapid.IntRange(0, 3).Draw(t, "whole") > 0 {
		body = append(make([]byte, n), drawTLVs(t)...)
		for i := range n {
			body[i] = byte(i*37 + 1)
		}
	}
	length := len(body)
	if rapid.IntRange(0, 9).Draw(t, "lies") == 0 {
		length = rapid.IntRange(0, 400).Draw(t, "length")
	}
	b := append(bytes.Clone(proxyV2Magic), command, family)
	b = binary.BigEndian.AppendUint16(b, uint16(length))
	return append(b, body...)
}

func drawTLVs(t *rapid.T) (b []byte) {
	for range rapid.IntRange(0, 3).Draw(t, "TLVs") {
		value := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "value")
		b = append(b, rapid.SampledFrom([]byte{0x02, 0x05, 0x20, 0xe0, 0xea}).Draw(t, "type"))
		b = binary.BigEndian.AppendUint16(b, uint16(len(value)))
		b = append(b, value...)
	}
	return b
}

// TestProxyAgainstOracle: headers of every kind are read as go-proxyproto reads them, but for what knownDifference says.
func TestProxyAgainstOracle(t *testing.T) {
	agreed := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		var head []byte
		if rapid.Bool().Draw(t, "v1") {
			head = drawV1(t)
		} else {
			head = drawV2(t)
		}
		b := append(head, frameOf("behind it")...)
		got, want := ours(b), oracle(b)
		if got == want {
			agreed[got.good]++
			return
		}
		if why := knownDifference(b, got, want); why == "" {
			t.Fatalf("%q\nours:   %+v\noracle: %+v", head, got, want)
		}
	})
	if agreed[true] == 0 || agreed[false] == 0 {
		t.Errorf("agreed on %d good and %d bad headers: one kind was never drawn", agreed[true], agreed[false])
	}
}

// knownDifference says why the two may differ about b; "": they may not.
func knownDifference(b []byte, got, want verdict) string {
	if bytes.HasPrefix(b, append(bytes.Clone(proxyV2Magic), proxyV2Proxy, 0)) && got.good && !want.good && got.source == "" {
		return "PROXY without an address: the protocol leaves it to the receiver, and Apache's takes it"
	}
	return ""
}
