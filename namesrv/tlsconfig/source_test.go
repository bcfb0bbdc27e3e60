package tlsconfig

import (
	"crypto/tls"
	"os"
	"strings"
	"testing"
	"time"
)

// settle is as many checks as a change needs.
func settle(source *Source) {
	source.check()
	source.check()
}

func TestReload(t *testing.T) {
	a := issue(t, "a", nil)
	s := newSite(t, a)
	source := s.mustOpen()
	want := func(step, name string, done, failed uint64) {
		t.Helper()
		if got := s.presents(source); got != name {
			t.Errorf("%s: it shows %q, want %q", step, got, name)
		}
		if d, f := source.Reloads(); d != done || f != failed {
			t.Errorf("%s: %d changes taken in, %d not; want %d, %d", step, d, f, done, failed)
		}
	}
	settle(source)
	want("nothing changed", "a", 0, 0)

	b := issue(t, "b", nil)
	s.write(s.cert, b.certPEM())
	source.check()
	want("changed just now", "a", 0, 0)
	s.write(s.key, b.keyPEM(t))
	source.check()
	want("changed between two looks", "a", 0, 0)
	source.check()
	want("both changed", "b", 1, 0)
	notAfter, _ := source.Expiry()
	if !notAfter.Equal(b.cert.NotAfter) {
		t.Errorf("it ends %v", notAfter)
	}

	c := issue(t, "c", nil)
	s.write(s.key, c.keyPEM(t))
	for range 5 {
		settle(source)
	}
	want("half a pair", "b", 1, 1)
	if n := strings.Count(s.log.String(), "level=ERROR"); n != 1 {
		t.Errorf("said %d times:\n%s", n, s.log.String())
	}
	s.write(s.cert, c.certPEM())
	settle(source)
	want("the other half", "c", 2, 1)

	s.write(s.cert, []byte("rubbish"))
	settle(source)
	want("rubbish", "c", 2, 2)
	must(t, os.Remove(s.cert))
	settle(source)
	want("gone", "c", 2, 3)

	s.write(s.cert, certify(t, "renewed", c.key, nil).certPEM())
	settle(source)
	want("renewed under its key", "renewed", 3, 3)
}

// The trusted certificates alone may change too. Who came in with a ticket of before has to show its certificate again.
func TestReloadTrusted(t *testing.T) {
	first, second := issue(t, "first", nil), issue(t, "second", nil)
	s := newSite(t, issue(t, "a", nil))
	s.write(s.trust, first.certPEM())
	s.system[clientAuthProperty], s.system[verifyClientProperty], s.system[trustCertPathProperty] = "require", "true", s.trust
	source := s.mustOpen()
	client := withClient(issue(t, "client", first))
	client.ClientSessionCache = tls.NewLRUClientSessionCache(1)
	if serverErr, clientErr := shake(t, source.Config(), client); serverErr != nil || clientErr != nil {
		t.Fatal(serverErr, clientErr)
	}
	s.write(s.trust, second.certPEM())
	settle(source)
	if serverErr, _ := shake(t, source.Config(), client); serverErr == nil {
		t.Error("a client of the former authority comes in")
	}
	if serverErr, clientErr := shake(t, source.Config(), withClient(issue(t, "client", second))); serverErr != nil || clientErr != nil {
		t.Error(serverErr, clientErr)
	}
}

// The watcher does what check does, by itself.
func TestWatch(t *testing.T) {
	s := newSite(t, issue(t, "a", nil))
	source := s.mustOpen()
	source.Start()
	b := issue(t, "b", nil)
	s.write(s.cert, b.certPEM())
	s.write(s.key, b.keyPEM(t))
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if done, _ := source.Reloads(); done == 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the change isn't taken in")
		}
	}
	source.Close()
	source.Close()
	if name := s.presents(source); name != "b" {
		t.Errorf("it shows %q", name)
	}
}

func TestLogNamesPlaces(t *testing.T) {
	s := newSite(t, issue(t, "a", nil))
	s.system[keyPasswordProperty] = "secret"
	s.write(s.config, []byte(clientAuthProperty+"=optional\n"))
	source := s.mustOpen()
	source.Start()
	source.Close()
	log := s.log.String()
	for _, want := range []string{
		"name=" + certPathProperty + " value=" + s.cert + " from=JAVA_OPT",
		"name=" + clientAuthProperty + " value=optional from=" + s.config + ":1",
		"name=" + keyPasswordProperty, "TLS is on", "clientAuth=RequestClientCert", "subject=\"CN=a\"",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log doesn't say %q:\n%s", want, log)
		}
	}
	if strings.Contains(log, "secret") {
		t.Errorf("the log tells the password:\n%s", log)
	}
}
