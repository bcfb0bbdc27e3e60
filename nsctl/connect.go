package nsctl

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/waymark-mq/waymark/nsctl/ask"
	"github.com/waymark-mq/waymark/nsctl/httpside"
)

const (
	defaultNamesrvPort = "9876"
	defaultAdminPort   = "9870"
)

// nameservers are those of the flag or of the environment.
func (t *tool) nameservers() ([]string, error) {
	for _, list := range []string{t.flags.namesrv, t.Getenv("NAMESRV_ADDR"), "127.0.0.1"} {
		if addrs, err := addresses(list, defaultNamesrvPort); err != nil || len(addrs) > 0 {
			return addrs, err
		}
	}
	return nil, nil
}

// dial connects to a nameserver.
func (t *tool) dial(ctx context.Context, addr string) (*ask.Nameserver, error) {
	config, err := t.tlsConfig(addr)
	if err != nil {
		return nil, err
	}
	return ask.Dial(ctx, addr, ask.Options{TLS: config, Timeout: t.flags.timeout})
}

// tlsConfig is nil without TLS.
func (t *tool) tlsConfig(addr string) (*tls.Config, error) {
	f := &t.flags
	if !f.tls {
		if f.tlsCA+f.tlsCert+f.tlsKey+f.tlsN != "" || f.tlsSkipVerify {
			return nil, errors.New("TLS options without --tls")
		}
		return nil, nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address %q is no host:port", addr)
	}
	c := &tls.Config{ServerName: host, InsecureSkipVerify: f.tlsSkipVerify}
	if f.tlsN != "" {
		c.ServerName = f.tlsN
	}
	if f.tlsCA != "" {
		pem, err := os.ReadFile(f.tlsCA)
		if err != nil {
			return nil, fmt.Errorf("--tls-ca: %w", err)
		}
		if c.RootCAs = x509.NewCertPool(); !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--tls-ca: %s: no certificate in PEM", f.tlsCA)
		}
	}
	if f.tlsCert+f.tlsKey != "" {
		pair, err := tls.LoadX509KeyPair(f.tlsCert, f.tlsKey)
		if err != nil {
			return nil, fmt.Errorf("--tls-cert, --tls-key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// httpSide returns the HTTP side, to be closed, of the i-th of n nameservers, which must say that it is that one's, unless --admin chose it.
func (t *tool) httpSide(ctx context.Context, addr string, i, n int) (*httpside.Client, *httpside.Server, error) {
	at, chosen, err := t.adminAddr(addr, i, n)
	if err != nil {
		return nil, nil, err
	}
	c := httpside.New(at, t.flags.timeout)
	s, err := c.Server(ctx)
	if err != nil && !chosen {
		err = fmt.Errorf("%w; --admin says where else its HTTP side is", err)
	} else if !chosen && portOf(addr) != portOf(s.Address) {
		err = fmt.Errorf("%s is the HTTP side of a nameserver at %s, not of %s; --admin takes it all the same", at, s.Address, addr)
	}
	if err != nil {
		c.Close()
		return nil, nil, err
	}
	return c, s, nil
}

func (t *tool) adminAddr(addr string, i, n int) (at string, chosen bool, err error) {
	admins, err := addresses(t.flags.admin, defaultAdminPort)
	switch {
	case err != nil:
		return "", false, fmt.Errorf("--admin: %w", err)
	case len(admins) == 0:
		host, _, err := net.SplitHostPort(addr)
		return net.JoinHostPort(host, t.sidePort), false, err
	case len(admins) != n:
		return "", false, fmt.Errorf("--admin has %d addresses for %d nameservers", len(admins), n)
	}
	return admins[i], true, nil
}

func portOf(addr string) string {
	_, port, _ := net.SplitHostPort(addr)
	return port
}

// mustSide is the HTTP side of the one nameserver that is meant, to be closed, and what it says of itself.
func (t *tool) mustSide(ctx context.Context) (*httpside.Client, *httpside.Server, error) {
	addrs, err := t.nameservers()
	if err != nil {
		return nil, nil, err
	}
	if len(addrs) > 1 {
		return nil, nil, fmt.Errorf("%d nameservers are named: -n chooses one", len(addrs))
	}
	return t.httpSide(ctx, addrs[0], 0, 1)
}
