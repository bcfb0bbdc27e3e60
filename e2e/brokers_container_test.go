//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// TestBrokerContainer: brokers that share one connection to the nameserver register, serve, come and go one by one, and
// are gone together when their process is.
func TestBrokerContainer(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, nameserver string) {
		s := startContainer(t, nameserver)
		bothThere := t.Run("one by one", func(t *testing.T) {
			inMatrix(t, nameserver, "broker container", currentVersion,
				fmt.Sprintf("two brokers on one connection: %d messages through each; one removed and added again, the other serves on", brokerMessages))
			s.serve(t)
			s.removeAndAdd(t)
		})
		t.Run("killed", func(t *testing.T) {
			refusedByApache(t, nameserver, "broker container", currentVersion, "killed: both of its brokers are gone at once", "D3")
			if !bothThere {
				t.Fatal("there aren't two brokers to be gone")
			}
			s.kill(t, nameserver)
		})
	})
}

// containerStack is a nameserver and a broker container with two brokers.
type containerStack struct {
	nameserver *harness.Nameserver
	tap        *harness.Tap
	container  *harness.Container
	brokers    [2]*harness.Broker
	client     *harness.Session
	shell      *harness.AdminShell
}

func startContainer(t *testing.T, nameserver string) *containerStack {
	t.Helper()
	servers, jars := jarsOf(t, harness.ServerJars, currentVersion), shared.jars(t, currentVersion)
	s := &containerStack{nameserver: newNameserver(t, programOf(t, nameserver))}
	s.tap = newTap(t, s.nameserver)
	for i, name := range []string{"inner-a", "inner-b"} {
		s.brokers[i] = newBroker(t, harness.BrokerConfig{
			Jars: servers, Name: name, Nameservers: []*harness.Nameserver{s.nameserver},
			Properties: []string{"namesrvAddr=" + s.tap.Addr},
		})
	}
	var err error
	s.container, err = harness.NewContainer(shared.java, servers, t.TempDir(), s.tap.Addr, s.brokers[:]...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.container.Kill(); logOnFailure(t, s.container) })
	if err := s.container.Launch(); err != nil {
		t.Fatal(err)
	}
	s.client = startRoundTrips(t, currentVersion, s.nameserver.Addr)
	s.shell = harness.NewAdminShell(shared.java, jars, shared.program(t, jars, "AdminShell.java"), filepath.Join(t.TempDir(), "tool"))
	t.Cleanup(s.shell.Kill)
	return s
}

// serve: both brokers register over one connection, and messages go through each.
func (s *containerStack) serve(t *testing.T) {
	t.Helper()
	for _, b := range s.brokers {
		if err := b.AwaitRegistered(brokerLimit); err != nil {
			t.Fatal(err)
		}
		s.useBroker(t, b, "Topic-"+b.Name)
	}
	users := map[int]map[string]bool{} // names of the brokers that registered over a connection
	for _, e := range s.tap.Exchanges(registerBroker) {
		if users[e.Conn] == nil {
			users[e.Conn] = map[string]bool{}
		}
		users[e.Conn][e.Fields["brokerName"]] = true
	}
	for _, names := range users {
		if len(names) == len(s.brokers) {
			return
		}
	}
	t.Errorf("no connection carried the registrations of both brokers: %v", users)
}

// useBroker makes a topic on a broker and sends and receives through it.
func (s *containerStack) useBroker(t *testing.T, b *harness.Broker, topic string) {
	t.Helper()
	createTopic(t, b, topic)
	awaitRoute(t, s.nameserver, topic, func(r *harness.Route) bool { return r.Broker(b.Name)["0"] == b.Addr })
	roundTrips(t, s.client, topic)
}

// removeAndAdd: a broker that leaves the container takes nothing but its own routes along, and finds them again.
func (s *containerStack) removeAndAdd(t *testing.T) {
	t.Helper()
	gone, stays := s.brokers[0], s.brokers[1]
	s.mqadmin(t, "removeBroker", "-c", s.container.Addr, "-b", "DefaultCluster:"+gone.Name+":0")
	s.awaitLeft(t, stays)
	s.useBroker(t, stays, "Alone-"+stays.Name)
	s.mqadmin(t, "addBroker", "-c", s.container.Addr, "-b", gone.ConfigFile())
	if err := gone.AwaitRegistered(brokerLimit); err != nil {
		t.Fatal(err)
	}
	s.useBroker(t, gone, "Again-"+gone.Name)
}

// mqadmin runs a command that changes the container. The tool waits 20 s for it at most: only the change itself tells
// whether it came.
func (s *containerStack) mqadmin(t *testing.T, args ...string) {
	t.Helper()
	out, err := s.shell.Run(args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(out)
}

// kill ends the container. Apache's nameserver takes the end of a connection for the end of one broker.
func (s *containerStack) kill(t *testing.T, nameserver string) {
	t.Helper()
	s.container.Kill()
	want := 0
	if nameserver == apache {
		want = 1
	}
	err := harness.Eventually(connectionEndLimit, func() error {
		if left := s.listed(t); len(left) > want {
			return fmt.Errorf("%d brokers are listed after their end", len(left))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if left := s.listed(t); len(left) != want {
		t.Errorf("%d brokers are listed after their end, want %d", len(left), want)
	}
}

// awaitLeft waits until the nameserver lists no broker but one, with the routes of its topic alone.
func (s *containerStack) awaitLeft(t *testing.T, b *harness.Broker) {
	t.Helper()
	err := harness.Eventually(brokerLimit, func() error {
		if left := s.listed(t); len(left) != 1 || left[0] != b {
			return errors.New("the removed broker is still listed")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, inner := range s.brokers {
		known := false
		err := s.nameserver.Ask(func(a *harness.Asker) (err error) {
			known, err = a.HasRoute("Topic-" + inner.Name)
			return err
		})
		if err != nil || known != (inner == b) {
			t.Errorf("route of the topic of %s: %v, error %v", inner.Name, known, err)
		}
	}
}

// listed are the brokers that the nameserver lists with their routes.
func (s *containerStack) listed(t *testing.T) (listed []*harness.Broker) {
	t.Helper()
	err := s.nameserver.Ask(func(a *harness.Asker) error {
		for _, b := range s.brokers {
			known, err := a.HasBroker(b.Name, b.Addr)
			if err != nil {
				return err
			}
			if known {
				listed = append(listed, b)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return listed
}
