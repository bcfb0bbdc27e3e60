package namesrv

import (
	"cmp"
	"math"
	"net"
	"strconv"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/netpoll"
)

// netOptions are the settings of the server's connections. Apache takes 0 and less as "the
// system's" for socket buffers, and counts its water marks only when both are above 0.
func (s *Server) netOptions(c *settings.Settings) netpoll.Options {
	o := netpoll.Options{
		Addr:            net.JoinHostPort(c.BindAddress, strconv.Itoa(c.ListenPort)),
		EventLoops:      cmp.Or(s.eventLoops, c.EventLoops),
		MaxFrameBytes:   s.maxFrameBytes,
		IdleTimeout:     orNever(c.ServerChannelMaxIdleTimeSeconds),
		MaxConns:        c.MaxConnections,
		MaxUnsentBytes:  s.budgets.output,
		MaxHeldBytes:    s.budgets.input,
		FramePoolBytes:  s.budgets.framePool,
		MaxHandshakes:   s.budgets.handshakes,
		SendBufferBytes: max(c.ServerSocketSndBufSize, 0),
		RecvBufferBytes: max(c.ServerSocketRcvBufSize, 0),
		TrustsProxy:     c.TrustsProxy(),
		Logger:          s.logger,
		Now:             s.clock.Now,
		Idle:            s.mayIdle,
	}
	if s.guard.connections != nil {
		o.Admit, o.AdmitNamed = s.admissions(o.TrustsProxy)
	}
	if s.tls != nil {
		o.TLSConfig, o.RequireTLS = s.tls.Config, s.tls.Required()
	}
	if c.WriteBufferHighWaterMark > 0 && c.WriteBufferLowWaterMark > 0 {
		o.HighWaterBytes = c.WriteBufferHighWaterMark
	}
	return o
}

// mayIdle reports whether a connection may be ended because it is idle. With the expiry guard on,
// the connection of a broker isn't: the guard holds silent brokers as long as it is open, and
// whoever does expire has it closed then. Loop only.
func (s *Server) mayIdle(c *netpoll.Conn) bool {
	p, ok := c.Context.(*session)
	return !ok || s.settings.Load().ExpiryGuardPercent == 0 || !p.mayOwnBrokers()
}

// notifierOptions are the settings of the connections to brokers.
func (s *Server) notifierOptions(c *settings.Settings) netpoll.NotifierOptions {
	o := netpoll.NotifierOptions{
		ConnectTimeout: time.Duration(c.ConnectTimeoutMillis) * time.Millisecond,
		IdleTimeout:    time.Duration(c.ClientChannelMaxIdleTimeSeconds) * time.Second,
		Logger:         s.logger,
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = math.MaxInt64
	}
	return o
}

// orNever is a number of seconds as netpoll takes it: 0 and less mean never.
func orNever(seconds int) time.Duration {
	if seconds <= 0 {
		return -1
	}
	return time.Duration(seconds) * time.Second
}
