package main

import (
	"github.com/waymark-mq/waymark/admin"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// adminServer is what run needs of an *admin.Server.
type adminServer interface {
	Addr() string
	Serve() error
	Close()
}

// noAdmin is the HTTP side when it is off.
type noAdmin struct{}

func (noAdmin) Addr() string { return "" }
func (noAdmin) Serve() error { return nil }
func (noAdmin) Close()       {}

// openAdmin serves the HTTP side, if there is to be one: before the nameserver starts, so that it shows that, and so that an
// address somebody chose in vain stops the start. The default address may well be another nameserver's; that is only warned of.
func (p process) openAdmin(s *settings.Settings, o admin.Options) (side adminServer, warning, err error) {
	addr, chosen := s.AdminAddr()
	if addr == "" {
		return noAdmin{}, nil, nil
	}
	o.Addr = addr
	side, err = p.listenAdmin(o)
	switch {
	case err != nil && chosen:
		return nil, nil, err
	case err != nil:
		return noAdmin{}, err, nil
	}
	go func() {
		if err := side.Serve(); err != nil {
			o.Logger.Error("metrics, health and API have ended", "error", err)
		}
	}()
	return side, nil, nil
}
