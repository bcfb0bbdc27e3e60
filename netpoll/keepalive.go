package netpoll

import "time"

// keepAliveProbes is how many of the kernel's probes fit between a connection's first silence and its end.
const keepAliveProbes = 3

// KeepAlive has the kernel look after the other host: when nothing has come from it for idle, it is probed, and when it has confirmed nothing
// for twice that, the connection ends (io errors of the system: ETIMEDOUT). That goes for unconfirmed answers, too. A process that
// hangs is not noticed, since its kernel confirms. Loop only; whole seconds; a failure leaves the connection as it was.
func (c *Conn) KeepAlive(idle time.Duration) error {
	if c.sock == nil { // a Pipe
		return nil
	}
	interval := max(time.Second, (idle / keepAliveProbes).Truncate(time.Second))
	if err := c.sock.SetKeepAlive(true, idle, interval, keepAliveProbes); err != nil {
		return err
	}
	return setUserTimeout(c.sock.Fd(), 2*idle)
}
