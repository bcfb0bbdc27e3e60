//go:build faults && linux

package faults

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"strings"
	"testing"
	"time"
)

// writePair writes a self-signed certificate of that name, and its key.
func (s *site) writePair(name string) {
	s.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		s.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{s.cert(): {Type: "CERTIFICATE", Bytes: cert}, s.key(): {Type: "PRIVATE KEY", Bytes: der}} {
		writeFile(s.t, path+".new", string(pem.EncodeToMemory(block)))
		rename(s.t, path+".new", path)
	}
}

func (s *site) cert() string { return s.home + "/server.pem" }
func (s *site) key() string  { return s.home + "/server.key" }

// withTLS makes processes of the site read their certificate from files.
func (s *site) withTLS(words ...string) {
	s.writePair("first")
	words = append(words, "tls.config.file="+s.home+"/tls.properties", "tls.server.certPath="+s.cert(), "tls.server.keyPath="+s.key())
	s.env = []string{"JAVA_OPT=-Xmx4g -D" + strings.Join(words, " -D")}
	writeFile(s.t, s.home+"/tls.properties", "tls.test.mode.enable=false\n")
}

// presented is the name of the certificate that the server shows; "" if there is no handshake.
func (s *site) presented() string {
	c, err := tls.Dial("tcp", s.addr, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		return ""
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName
}

// TestStartRefusedByTLS: what is wrong with the certificate is one clear line.
func TestStartRefusedByTLS(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, s *site)
		line    []string
	}{
		{"certificate missing", func(t *testing.T, s *site) { remove(t, s.cert()) }, []string{"tls.server.certPath", "$CERT", "JAVA_OPT", "no such file"}},
		{"certificate is a folder", func(t *testing.T, s *site) {
			remove(t, s.cert())
			writeFile(t, s.cert()+"/file", "")
		}, []string{"tls.server.certPath", "$CERT", "is a directory"}},
		{"key unreadable", func(t *testing.T, s *site) { writeFile(t, s.key(), "rubbish") }, []string{"tls.server.keyPath", "$KEY", "no private key"}},
		{"file is a folder", func(t *testing.T, s *site) {
			remove(t, s.home+"/tls.properties")
			writeFile(t, s.home+"/tls.properties/file", "")
		}, []string{"tls.config.file", "tls.properties", "is a directory"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.withTLS()
			c.prepare(t, s)
			p := s.launch()
			p.wantExit(exitFailed, startLimit)
			stderr := p.stderr.String()
			if n := strings.Count(stderr, "\n"); n != 1 || p.stdout.has("boot success") {
				t.Errorf("%d lines on stderr, want 1", n)
			}
			names := strings.NewReplacer("$CERT", s.cert(), "$KEY", s.key())
			for _, want := range c.line {
				if want = names.Replace(want); !strings.Contains(stderr, want) {
					t.Errorf("stderr does not say %q", want)
				}
			}
		})
	}
}

// TestTLSFiles: a running process takes in a new certificate and keeps the old one while the new one is no use.
func TestTLSFiles(t *testing.T) {
	s := newSite(t)
	s.withTLS("tls.server.mode=enforcing")
	p := s.start()
	if name := s.presented(); name != "first" {
		t.Fatalf("it shows %q", name)
	}
	for _, said := range []string{"name=tls.server.certPath value=" + s.cert() + " from=JAVA_OPT", "name=tls.test.mode.enable value=false from=" + s.home + "/tls.properties:1"} {
		if !p.stderr.has(said) {
			t.Errorf("the log does not say %q", said)
		}
	}
	s.writePair("second")
	waitFor(t, "second certificate", func() bool { return s.presented() == "second" })
	if err := os.Truncate(s.cert(), 10); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "complaint", func() bool { return p.stderr.has("can't be used") })
	if name := s.presented(); name != "second" {
		t.Errorf("with a broken file it shows %q", name)
	}
	p.stop()
}
