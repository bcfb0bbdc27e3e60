package tlsconfig

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
)

// loaded is a configuration with what it was made of. It is immutable.
type loaded struct {
	config *tls.Config
	leaf   *x509.Certificate // the server's certificate
}

// load makes the configuration of the files as they are now.
func (p *Properties) load() (*loaded, error) {
	if p.TestMode {
		certificate, err := selfSigned()
		if err != nil {
			return nil, fmt.Errorf("tlsconfig: self-signed certificate: %w", err)
		}
		return newLoaded(certificate, tls.VerifyClientCertIfGiven, nil), nil
	}
	certificate, err := p.loadPair()
	if err != nil {
		return nil, err
	}
	var trusted *x509.CertPool // nil: the system's
	if p.VerifyClient && p.TrustCertPath != "" {
		if trusted, err = p.loadTrusted(); err != nil {
			return nil, err
		}
	}
	return newLoaded(certificate, p.clientAuth(), trusted), nil
}

func newLoaded(certificate tls.Certificate, auth tls.ClientAuthType, trusted *x509.CertPool) *loaded {
	return &loaded{
		config: &tls.Config{
			Certificates: []tls.Certificate{certificate},
			ClientAuth:   auth,
			ClientCAs:    trusted,
			// Answers leave in one piece: there is nothing to gain from small records first.
			DynamicRecordSizingDisabled: true,
		},
		leaf: certificate.Leaf,
	}
}

// clientAuth is Apache's pair of properties in Go's words.
func (p *Properties) clientAuth() tls.ClientAuthType {
	switch {
	case p.ClientAuth == AuthRequire && p.VerifyClient:
		return tls.RequireAndVerifyClientCert
	case p.ClientAuth == AuthRequire:
		return tls.RequireAnyClientCert
	case p.ClientAuth == AuthOptional && p.VerifyClient:
		return tls.VerifyClientCertIfGiven
	case p.ClientAuth == AuthOptional:
		return tls.RequestClientCert
	}
	return tls.NoClientCert
}

func (p *Properties) loadPair() (tls.Certificate, error) {
	for _, name := range []string{certPathProperty, keyPathProperty} {
		if p.found[name].text == "" {
			return tls.Certificate{}, fmt.Errorf("tlsconfig: %s=false and no %s", testModeProperty, name)
		}
	}
	chain, err := readRegular(p.CertPath)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("tlsconfig: %s: %w", p.named(certPathProperty), err)
	}
	keyText, err := readRegular(p.KeyPath)
	if err == nil {
		keyText, err = plainKey(keyText, p.keyPassword)
	}
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("tlsconfig: %s: %w", p.named(keyPathProperty), err)
	}
	certificate, err := tls.X509KeyPair(chain, keyText)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("tlsconfig: %s with %s: %w", p.named(certPathProperty), p.named(keyPathProperty), err)
	}
	return certificate, nil
}

func (p *Properties) loadTrusted() (*x509.CertPool, error) {
	text, err := readRegular(p.TrustCertPath)
	if err != nil {
		return nil, fmt.Errorf("tlsconfig: %s: %w", p.named(trustCertPathProperty), err)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("tlsconfig: %s: no certificate in it", p.named(trustCertPathProperty))
	}
	return trusted, nil
}
