package nsctl

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// addresses cuts a list as Apache's tools write it, with semicolons; commas and blanks part as well. Those without a port get the given one.
func addresses(list, port string) (addrs []string, err error) {
	for _, text := range strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
		addr, ok := address(text, port)
		if !ok {
			return nil, fmt.Errorf("address %q is none of host, host:port, IPv6, [IPv6], [IPv6]:port", text)
		}
		addrs = append(addrs, addr)
	}
	return addrs, nil
}

// address gives one address its form for net.Dial. What is an IPv6 address as a whole has no port.
func address(text, port string) (addr string, ok bool) {
	bracketed := strings.HasPrefix(text, "[")
	host := text
	switch {
	case bracketed && strings.HasSuffix(text, "]"):
		host = text[1 : len(text)-1]
	case !bracketed && (isIPv6(text) || !strings.Contains(text, ":")):
	default:
		var err error
		if host, port, err = net.SplitHostPort(text); err != nil {
			return "", false
		}
	}
	n, err := strconv.ParseUint(port, 10, 16)
	ok = err == nil && n > 0 && (isIPv6(host) || !bracketed && isName(host))
	return net.JoinHostPort(host, port), ok
}

func isIPv6(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Is6()
}

// isName reports whether a text can be a host's name or an IPv4 address; whether there is one, the resolver knows.
func isName(host string) bool {
	return host != "" && !strings.ContainsAny(host, ":/?#@%[]\\") && printable(host) == host
}
