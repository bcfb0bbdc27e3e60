package namesrv

import (
	"math"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// Every network setting reaches the network, and the values that Apache reads as "none" mean that.
func TestNetOptions(t *testing.T) {
	c := settings.Default(settings.Env{HomeDir: t.TempDir()})
	c.EventLoops, c.MaxConnections, c.OutputBudgetBytes = 3, 500, 1<<22
	s := newTestServer(t, t.TempDir(), Options{Settings: c, MaxFrameBytes: 1 << 20}).Server
	c.BindAddress, c.ListenPort = "::1", 9877
	c.ServerChannelMaxIdleTimeSeconds, c.ServerSocketSndBufSize, c.ServerSocketRcvBufSize = 7, 1<<16, 1<<17
	c.WriteBufferHighWaterMark, c.WriteBufferLowWaterMark = 1<<15, 1<<14
	o := s.netOptions(c)
	if o.Addr != "[::1]:9877" || o.EventLoops != 3 || o.MaxConns != 500 || o.MaxUnsentBytes != 1<<22 || o.MaxFrameBytes != 1<<20 ||
		o.IdleTimeout != 7*time.Second || o.SendBufferBytes != 1<<16 || o.RecvBufferBytes != 1<<17 || o.HighWaterBytes != 1<<15 {
		t.Errorf("%+v", o)
	}
	c.ServerChannelMaxIdleTimeSeconds, c.ServerSocketSndBufSize, c.ServerSocketRcvBufSize, c.WriteBufferLowWaterMark = 0, -1, -1, 0
	o = s.netOptions(c)
	if o.IdleTimeout >= 0 || o.SendBufferBytes != 0 || o.RecvBufferBytes != 0 || o.HighWaterBytes != 0 {
		t.Errorf("none: %+v", o)
	}
	c.ConnectTimeoutMillis, c.ClientChannelMaxIdleTimeSeconds = 1500, 9
	if n := s.notifierOptions(c); n.ConnectTimeout != 1500*time.Millisecond || n.IdleTimeout != 9*time.Second {
		t.Errorf("%+v", n)
	}
	c.ClientChannelMaxIdleTimeSeconds = 0
	if n := s.notifierOptions(c); n.IdleTimeout != math.MaxInt64 {
		t.Errorf("never: %+v", n)
	}
}
