package tlsconfig

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// pair is a certificate with its key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue makes a certificate for a key of its own, signed by an issuer; nil: by itself, as an authority.
func issue(t *testing.T, name string, issuer *pair) *pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return certify(t, name, key, issuer)
}

func certify(t *testing.T, name string, key *ecdsa.PrivateKey, issuer *pair) *pair {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: issuer == nil, BasicConstraintsValid: true,
	}
	p := &pair{cert: template, key: key}
	if issuer == nil {
		issuer = p
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer.cert, key.Public(), issuer.key)
	if err == nil {
		p.cert, err = x509.ParseCertificate(der)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pair) certPEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.cert.Raw})
}

func (p *pair) keyPEM(t *testing.T) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(crypto.PrivateKey(p.key))
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func (p *pair) tls() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{p.cert.Raw}, PrivateKey: p.key}
}

// site is a folder with the files of a server.
type site struct {
	t                *testing.T
	cert, key, trust string
	config           string // the properties file; not there yet
	system           map[string]string
	log              bytes.Buffer
}

func newSite(t *testing.T, p *pair) *site {
	dir := t.TempDir()
	s := &site{t: t, cert: filepath.Join(dir, "server.pem"), key: filepath.Join(dir, "server.key"),
		trust: filepath.Join(dir, "trust.pem"), config: filepath.Join(dir, "tls.properties")}
	s.system = map[string]string{
		testModeProperty: "false", certPathProperty: s.cert, keyPathProperty: s.key, fileProperty: s.config,
	}
	s.write(s.cert, p.certPEM())
	s.write(s.key, p.keyPEM(t))
	return s
}

// write replaces a file in one stroke, so that a look never sees the time stamp of the old one.
func (s *site) write(path string, text []byte) {
	s.t.Helper()
	aside := path + ".new"
	if err := errors.Join(os.WriteFile(aside, text, 0o600), os.Rename(aside, path)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) read() (*Properties, error) {
	return Read(s.system, func(name string) string { return "JAVA_OPT" })
}

func (s *site) open() (*Source, error) {
	p, err := s.read()
	if err != nil {
		return nil, err
	}
	return Open(p, slog.New(slog.NewTextHandler(&s.log, nil)))
}

func (s *site) mustOpen() *Source {
	s.t.Helper()
	source, err := s.open()
	if err != nil {
		s.t.Fatal(err)
	}
	return source
}

// shake is a handshake over memory, with the first bytes both ways; it returns what each side says of it.
func shake(t *testing.T, server, client *tls.Config) (serverErr, clientErr error) {
	t.Helper()
	near, far := net.Pipe()
	deadline := time.Now().Add(20 * time.Second)
	_, _ = near.SetDeadline(deadline), far.SetDeadline(deadline)
	done := make(chan error, 1)
	go func() {
		s := tls.Server(far, server)
		err := s.Handshake()
		if err == nil {
			_, err = s.Write([]byte("x"))
		}
		_ = far.Close()
		done <- err
	}()
	c := tls.Client(near, client)
	clientErr = c.Handshake()
	if clientErr == nil {
		_, clientErr = c.Read(make([]byte, 1)) // in TLS 1.3 the server's verdict comes behind the handshake
	}
	_ = near.Close()
	return <-done, clientErr
}

// presents is the name of the certificate that a source's configuration shows.
func (s *site) presents(source *Source) string {
	s.t.Helper()
	var name string
	serverErr, clientErr := shake(s.t, source.Config(), &tls.Config{InsecureSkipVerify: true,
		VerifyConnection: func(c tls.ConnectionState) error { name = c.PeerCertificates[0].Subject.CommonName; return nil }})
	if err := errors.Join(serverErr, clientErr); err != nil {
		s.t.Fatal(err)
	}
	return name
}
