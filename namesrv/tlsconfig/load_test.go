package tlsconfig

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/youmark/pkcs8"
)

func TestTestMode(t *testing.T) {
	s := newSite(t, issue(t, "a", nil))
	delete(s.system, testModeProperty)
	source := s.mustOpen()
	source.Start()
	defer source.Close()
	if source.stop != nil {
		t.Error("files are watched that are not used")
	}
	if _, ok := source.Config().Certificates[0].PrivateKey.(*ecdsa.PrivateKey); !ok {
		t.Error("the certificate takes long to make")
	}
	if name := s.presents(source); name != "localhost" {
		t.Errorf("it shows %q", name)
	}
	if notAfter, ok := source.Expiry(); !ok || notAfter.Before(time.Now().AddDate(100, 0, 0)) {
		t.Errorf("it ends %v", notAfter)
	}
	if log := s.log.String(); !strings.Contains(log, "level=WARN") || !strings.Contains(log, testModeProperty+" is true") {
		t.Errorf("nothing says that the certificates named are not used:\n%s", log)
	}
	if serverErr, _ := shake(t, source.Config(), withClient(issue(t, "unknown", nil))); serverErr == nil {
		t.Error("a client's certificate that nobody has signed is taken")
	}
}

func TestOff(t *testing.T) {
	s := newSite(t, issue(t, "a", nil))
	s.system[modeProperty] = "disabled"
	must(t, os.Remove(s.cert))
	source := s.mustOpen()
	source.Start()
	source.Close()
	if _, ok := source.Expiry(); source.Config() != nil || ok || source.Required() {
		t.Error("there is something of TLS")
	}
}

func encrypted(t *testing.T, p *pair, password string, opts *pkcs8.Opts) []byte {
	t.Helper()
	der, err := pkcs8.MarshalPrivateKey(p.key, []byte(password), opts)
	must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: der})
}

func TestKeyForms(t *testing.T) {
	p := issue(t, "a", nil)
	sec1, err := x509.MarshalECPrivateKey(p.key)
	must(t, err)
	plain := p.keyPEM(t)
	for _, tt := range []struct {
		name, password string
		key            []byte
		says           string // of the error; "": none
	}{
		{"PKCS#8", "", plain, ""},
		{"PKCS#8, a password that it doesn't need", "secret", plain, ""},
		{"SEC 1", "", pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1}), ""},
		{"behind another block", "", append(p.certPEM(), plain...), ""},
		{"encrypted", "secret", encrypted(t, p, "secret", nil), ""},
		{"encrypted with scrypt", "secret", encrypted(t, p, "secret", &pkcs8.Opts{Cipher: pkcs8.AES128CBC,
			KDFOpts: pkcs8.ScryptOpts{CostParameter: 1 << 4, BlockSize: 8, ParallelizationParameter: 1, SaltSize: 16}}), ""},
		{"encrypted, another password", "geheim", encrypted(t, p, "secret", nil), "incorrect password"},
		{"encrypted, no password", "", encrypted(t, p, "secret", nil), "no " + keyPasswordProperty},
		{"encrypted, cut short", "secret", cutShort(t, encrypted(t, p, "secret", nil)), ""},
		{"encrypted in the old form", "secret", pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY",
			Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-128-CBC,00"}, Bytes: sec1}), "older than PKCS#8"},
		{"no PEM", "", []byte("rubbish"), "no private key"},
		{"empty", "", nil, "no private key"},
		{"a certificate", "", p.certPEM(), "no private key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, p)
			s.write(s.key, tt.key)
			s.system[keyPasswordProperty] = tt.password
			source, err := s.open()
			if tt.name == "encrypted, cut short" {
				tt.says = keyPathProperty // whatever it is
			}
			if tt.says == "" {
				must(t, err)
				if name := s.presents(source); name != "a" {
					t.Errorf("it shows %q", name)
				}
				return
			}
			checkError(t, s, err, []string{tt.says, "$KEY", "JAVA_OPT"})
			if strings.Contains(err.Error(), tt.password) && tt.password != "" {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

// cutShort takes bytes off what is encrypted, so that it is no whole number of blocks.
func cutShort(t *testing.T, key []byte) []byte {
	t.Helper()
	block, _ := pem.Decode(key)
	der := block.Bytes[:len(block.Bytes)-3]
	der[3] -= 3 // the outer length
	// The last element is the octet string with the key: its length is two bytes behind its tag.
	for i := len(der) - 120; i > 0; i-- {
		if der[i] == 0x04 && der[i+1] == 0x81 && int(der[i+2]) == len(der)+3-i-3 {
			der[i+2] -= 3
			return pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: der})
		}
	}
	t.Fatal("the key isn't where it was thought to be")
	return nil
}

func TestOpenRefuses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, s *site)
		says    []string
	}{
		{"no certificate named", func(t *testing.T, s *site) { delete(s.system, certPathProperty) }, []string{testModeProperty, certPathProperty}},
		{"no key named", func(t *testing.T, s *site) { s.system[keyPathProperty] = " " }, []string{testModeProperty, keyPathProperty}},
		{"certificate missing", func(t *testing.T, s *site) { must(t, os.Remove(s.cert)) }, []string{certPathProperty, "$CERT", "no such file"}},
		{"key missing", func(t *testing.T, s *site) { must(t, os.Remove(s.key)) }, []string{keyPathProperty, "$KEY", "no such file"}},
		{"certificate is a folder", func(t *testing.T, s *site) {
			must(t, os.Remove(s.cert))
			must(t, os.Mkdir(s.cert, 0o700))
		}, []string{certPathProperty, "$CERT", "is a directory"}},
		{"certificate is a pipe", func(t *testing.T, s *site) {
			must(t, os.Remove(s.cert))
			must(t, syscall.Mkfifo(s.cert, 0o600))
		}, []string{certPathProperty, "$CERT", "not a regular file"}},
		{"certificate is rubbish", func(t *testing.T, s *site) { s.write(s.cert, []byte("rubbish")) }, []string{"$CERT", "PEM"}},
		{"certificate is empty", func(t *testing.T, s *site) { s.write(s.cert, nil) }, []string{"$CERT", "PEM"}},
		{"key of another certificate", func(t *testing.T, s *site) { s.write(s.key, issue(t, "b", nil).keyPEM(t)) }, []string{"$CERT", "$KEY", "does not match"}},
		{"trusted missing", func(t *testing.T, s *site) {
			s.system[verifyClientProperty], s.system[trustCertPathProperty] = "true", s.trust
		}, []string{trustCertPathProperty, "$TRUST", "no such file"}},
		{"trusted has no certificate", func(t *testing.T, s *site) {
			s.system[verifyClientProperty], s.system[trustCertPathProperty] = "true", s.trust
			s.write(s.trust, s.key2(t))
		}, []string{trustCertPathProperty, "$TRUST", "no certificate"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t, issue(t, "a", nil))
			tt.prepare(t, s)
			_, err := s.open()
			checkError(t, s, err, tt.says)
		})
	}
}

func (s *site) key2(t *testing.T) []byte { return issue(t, "x", nil).keyPEM(t) }

// withClient shows a certificate, whomever the server says it trusts.
func withClient(p *pair) *tls.Config {
	certificate := p.tls()
	return &tls.Config{InsecureSkipVerify: true,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }}
}

func TestClientAuth(t *testing.T) {
	authority := issue(t, "authority", nil)
	known, stranger := withClient(issue(t, "known", authority)), withClient(issue(t, "stranger", issue(t, "other", nil)))
	bare := &tls.Config{InsecureSkipVerify: true}
	for _, tt := range []struct {
		auth, verify          string
		bare, known, stranger bool // may come in
	}{
		{"none", "true", true, true, true},
		{"none", "false", true, true, true},
		{"optional", "true", true, true, false},
		{"optional", "false", true, true, true},
		{"require", "true", false, true, false},
		{"require", "false", false, true, true},
	} {
		for name, version := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
			t.Run(tt.auth+" "+tt.verify+" "+name, func(t *testing.T) {
				s := newSite(t, issue(t, "a", authority))
				s.write(s.trust, authority.certPEM())
				s.system[clientAuthProperty], s.system[verifyClientProperty], s.system[trustCertPathProperty] = tt.auth, tt.verify, s.trust
				source := s.mustOpen()
				for _, c := range []struct {
					who    string
					config *tls.Config
					may    bool
				}{{"nobody", bare, tt.bare}, {"a known one", known, tt.known}, {"a stranger", stranger, tt.stranger}} {
					client := c.config.Clone()
					client.MinVersion, client.MaxVersion = version, version
					serverErr, clientErr := shake(t, source.Config(), client)
					if may := serverErr == nil && clientErr == nil; may != c.may {
						t.Errorf("%s: server %v, client %v; may come in: %v", c.who, serverErr, clientErr, c.may)
					}
				}
			})
		}
	}
}
