package peers

import (
	"fmt"
	"net"
)

// advertised is where others reach what listens on host and port.
func advertised(chosen, host string, port int) (*net.TCPAddr, error) {
	if chosen != "" {
		h, p, err := splitAddr(chosen)
		ip := net.ParseIP(h)
		if err != nil || ip == nil || p == 0 {
			return nil, fmt.Errorf("peers: %q is no address of others to reach this nameserver at: it must be ip:port", chosen)
		}
		return &net.TCPAddr{IP: ip, Port: p}, nil
	}
	ip := net.ParseIP(host)
	if ip == nil || ip.IsUnspecified() {
		ip = MachineIP()
	}
	return &net.TCPAddr{IP: ip, Port: port}, nil
}

// MachineIP is the address that others most likely reach this machine at: the first private one of IPv4, else another of a network, else loopback.
func MachineIP() net.IP {
	addrs, _ := net.InterfaceAddrs() // none: loopback
	best, rank := net.IPv4(127, 0, 0, 1), 0
	for _, a := range addrs {
		n, ok := a.(*net.IPNet)
		if !ok || !n.IP.IsGlobalUnicast() {
			continue
		}
		r := 1
		if n.IP.To4() != nil {
			r = 2
			if n.IP.IsPrivate() {
				r = 3
			}
		}
		if r > rank {
			best, rank = n.IP, r
		}
	}
	return best
}
