//go:build faults && linux

package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// fleet is a few nameservers that know one another and a few brokers, each on a host of its own, on one bridge.
type fleet struct {
	t       *testing.T
	hosts   *harness.Hosts
	servers []*fleetServer
	brokers []*fleetBroker
}

// fleetServer is one of the nameservers.
type fleetServer struct {
	*site
	name string // among the others
	link *http.Transport
}

const (
	fleetPort, fleetAdminPort, fleetPeerPort = "9876", "9870", "7946" // everything is free on a new host
	// The numbers of hosts: the last byte of their addresses.
	firstServer, firstBroker = 11, 21
	// fleetKey encrypts what the nameservers say to each other: base64 of 32 bytes.
	fleetKey = "d2F5bWFyay1mYXVsdHMtZmxlZXQta2V5LTMyLWJ5dGU="
)

// newHosts makes a network of hosts, which ends with the test. Where that isn't allowed the test is skipped, but for CI.
func newHosts(t *testing.T) *harness.Hosts {
	t.Helper()
	hosts, err := harness.NewHosts()
	t.Cleanup(func() {
		if err := hosts.Close(); err != nil && !t.Skipped() {
			t.Error(err)
		}
	})
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("no network of hosts: ", err)
	}
	return hosts
}

// newFleet starts nameservers with settings each, and brokers that register with all of them.
func newFleet(t *testing.T, brokers int, settings ...[]string) *fleet {
	t.Helper()
	f := &fleet{t: t, hosts: newHosts(t)}
	var peers []string
	for i := range settings {
		s := &fleetServer{site: &site{t: t, home: t.TempDir(), host: f.addHost(firstServer + i)}}
		s.config = filepath.Join(s.home, "namesrv.properties")
		s.addr = net.JoinHostPort(s.host.Addr, fleetPort)
		s.name = net.JoinHostPort(s.host.Addr, fleetPeerPort)
		s.link = &http.Transport{DialContext: func(_ context.Context, _, addr string) (net.Conn, error) { return s.host.Dial(addr, waitLimit) }}
		t.Cleanup(s.link.CloseIdleConnections)
		peers = append(peers, s.name)
		f.servers = append(f.servers, s)
	}
	for i, s := range f.servers {
		lines := append([]string{
			"bindAddress=" + s.host.Addr, "listenPort=" + fleetPort, "adminListen=" + net.JoinHostPort(s.host.Addr, fleetAdminPort),
			"peers=" + strings.Join(peers, ";"), "peerListenAddress=" + s.name, "peerKey=" + fleetKey,
		}, settings[i]...)
		writeFile(t, s.config, strings.Join(lines, "\n")+"\n")
		s.start()
	}
	for i := range brokers {
		b := &fleetBroker{t: t, name: fmt.Sprintf("broker-%d", i), host: f.addHost(firstBroker + i), servers: f.servers}
		b.version.Store(1)
		b.boot()
		t.Cleanup(b.crash)
		f.brokers = append(f.brokers, b)
	}
	return f
}

func (f *fleet) addHost(number int) *harness.Host {
	f.t.Helper()
	host, err := f.hosts.Add(number)
	f.must(err)
	return host
}

func (f *fleet) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// text gets a page of the server's HTTP side, from its own host.
func (s *fleetServer) text(path string) string {
	s.t.Helper()
	status, text := getThrough(s.link, "http://"+net.JoinHostPort(s.host.Addr, fleetAdminPort)+path)
	if status != http.StatusOK {
		s.t.Fatalf("%s of %s: %d %s", path, s.name, status, text)
	}
	return text
}

func (s *fleetServer) api(path string, into any) {
	s.t.Helper()
	if err := json.Unmarshal([]byte(s.text("/api/v1/"+path)), into); err != nil {
		s.t.Fatalf("%s of %s: %v", path, s.name, err)
	}
}

// fleetPeers is what a server knows of the others.
type fleetPeers struct {
	Peers []struct {
		Name, State string
		RoutesAgree *bool
	}
	Self struct {
		RoutesDigest string
		Brokers      int
	}
}

func (s *fleetServer) peers() (p fleetPeers) {
	s.t.Helper()
	s.api("peers", &p)
	return p
}

// in counts the others in a state.
func (p *fleetPeers) in(state string) (n int) {
	for _, peer := range p.Peers {
		if peer.State == state {
			n++
		}
	}
	return n
}

// fleetEvent is something that a server has seen.
type fleetEvent struct {
	Kind, Broker string
	Other        string // who said so
}

// events are those of some kinds (with commas), since the start.
func (s *fleetServer) events(kinds string) []fleetEvent {
	s.t.Helper()
	var page struct {
		Events []fleetEvent
		Missed uint64
	}
	s.api("events?limit=1000&kind="+kinds, &page)
	if page.Missed > 0 {
		s.t.Fatalf("%s has forgotten %d events", s.name, page.Missed)
	}
	return page.Events
}

// has reports whether a server has seen something of a broker.
func (s *fleetServer) has(kind string, b *fleetBroker) bool {
	s.t.Helper()
	for _, e := range s.events(kind) {
		if e.Broker == b.name {
			return true
		}
	}
	return false
}
