package main

import (
	"github.com/waymark-mq/waymark/admin"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// openAddresses opens the address server, if there is to be one: before the nameserver starts, so that an address that is taken stops the start.
// It answers that nobody is ready until then.
func openAddresses(s *settings.Settings, srv server, logger log) (end func(), err error) {
	if s.AddressServerListen == "" {
		return func() {}, nil
	}
	side, err := admin.ListenAddresses(admin.AddressOptions{Addr: s.AddressServerListen, Ready: srv.ReadyAddresses, Logger: logger.Logger})
	if err != nil {
		return nil, err
	}
	go func() {
		if err := side.Serve(); err != nil {
			logger.Error("the address server has ended", "error", err)
		}
	}()
	logger.Info("address server", "addr", side.Addr())
	return side.Close, nil
}
