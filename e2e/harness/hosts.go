package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
)

// Hosts is a small network on this machine: network namespaces, each a host with one address, on a bridge that has an address of the
// machine's own. A host vanishes when its link is cut: nothing says so to whoever is connected to it. One goroutine at a time, and one of
// them in a process. Only Linux has it, and only where the caller may make namespaces and bridges.
type Hosts struct {
	Addr   string // the machine's own on the bridge
	bridge string
	subnet string // the first three bytes
	hosts  []*Host
}

// hostsOpen: this process has Hosts, that are named by its number.
var hostsOpen atomic.Bool

var errHostsOpen = errors.New("harness: this process has hosts already")

// Host is one namespace. Programs are started in it by its name.
type Host struct {
	Namespace, Addr string
	link            string // its end on the bridge
}

// NewHosts makes the bridge, and removes what killed processes have left of theirs. Close it in any case. An error says why this machine
// doesn't allow it.
func NewHosts() (*Hosts, error) {
	if !hostsOpen.CompareAndSwap(false, true) {
		return &Hosts{}, errHostsOpen
	}
	pid := os.Getpid()
	h := &Hosts{bridge: bridgeOf(pid), subnet: fmt.Sprintf("10.%d.%d", 200+pid>>8%50, pid&0xff)}
	h.Addr = h.subnet + ".1"
	if err := removeLeftHosts(); err != nil {
		return h, err
	}
	return h, ip("link add "+h.bridge+" type bridge", "addr add "+h.Addr+"/24 dev "+h.bridge, "link set "+h.bridge+" up")
}

// Add makes a host, connected. Number is the last byte of its address, from 2 on.
func (h *Hosts) Add(number int) (*Host, error) { return h.add(number, number, true) }

// Shadow makes another host with the same address as a host has, not connected, on which nothing listens: what a machine is that
// vanished and has booted again, before its services have started.
func (h *Hosts) Shadow(number int) (*Host, error) { return h.add(number, 100+number, false) }

func (h *Hosts) add(number, name int, up bool) (*Host, error) {
	host := &Host{
		Namespace: fmt.Sprintf("%s-%d", h.bridge, name), link: fmt.Sprintf("%s%d", h.bridge, name),
		Addr: fmt.Sprintf("%s.%d", h.subnet, number),
	}
	h.hosts = append(h.hosts, host)
	err := ip(
		"netns add "+host.Namespace,
		"link add "+host.link+" type veth peer name eth0 netns "+host.Namespace,
		"link set "+host.link+" master "+h.bridge,
		"-n "+host.Namespace+" link set lo up",
		// One address, one hardware address: nobody has to learn a new one.
		fmt.Sprintf("-n %s link set eth0 address 02:00:00:00:00:%02x", host.Namespace, number),
		"-n "+host.Namespace+" addr add "+host.Addr+"/24 dev eth0",
		"-n "+host.Namespace+" link set eth0 up",
	)
	if err == nil && up {
		err = host.Connect()
	}
	return host, err
}

// Cut takes the host off the network.
func (h *Host) Cut() error { return ip("link set " + h.link + " down") }

// Connect puts it on.
func (h *Host) Connect() error { return ip("link set " + h.link + " up") }

// Isolate parts this host from every other that is isolated, and from none else: packets between them vanish. It ends with false.
func (h *Host) Isolate(on bool) error {
	state := "off"
	if on {
		state = "on"
	}
	return ip("link set " + h.link + " type bridge_slave isolated " + state)
}

// Close removes all hosts and the bridge, once. What still runs in a host keeps running, alone.
func (h *Hosts) Close() error {
	if h.bridge == "" {
		return nil
	}
	var errs []error
	for _, host := range h.hosts {
		errs = append(errs, ip("link del "+host.link), ip("netns del "+host.Namespace))
	}
	errs = append(errs, ip("link del "+h.bridge))
	*h = Hosts{}
	hostsOpen.Store(false)
	return errors.Join(errs...)
}

// ip runs commands of the program ip in order, up to the first that fails.
func ip(commands ...string) error {
	for _, command := range commands {
		if out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
			return fmt.Errorf("harness: ip %s: %w: %s", command, err, strings.TrimSpace(string(out)))
		}
	}
	return nil
}

// within makes cmd run in a network namespace, unless that is empty. The program keeps its process number.
func within(namespace string, cmd *exec.Cmd) error {
	if namespace == "" {
		return nil
	}
	ipPath, err := findTool("ip")
	if err != nil {
		return err
	}
	cmd.Args = append([]string{"ip", "netns", "exec", namespace, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = ipPath
	return nil
}
