package namesrv

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/waymark-mq/waymark/core"
)

const (
	// mostChecks is how many restored addresses are connected to at a time.
	mostChecks = 32
	// checkLimit is how long one may take to refuse.
	checkLimit = 2 * time.Second
)

// routeCheck connects to each restored broker's address once, right after the start. One that refuses connections has nobody
// behind it, so its brokers go at once; whatever else comes of it proves nothing. Its own goroutine, from Start to Stop at the most.
type routeCheck struct {
	dial    func(ctx context.Context, addr string) error // connects and lets go, or a test's
	cancel  context.CancelFunc                           // nil: not begun
	running sync.WaitGroup
}

// begin checks the brokers that are provisional now.
func (c *routeCheck) begin(s *Server) {
	brokers := map[string][]core.BrokerAddress{}
	for l := range s.table.Load().AllLive() {
		if l.Provisional {
			brokers[l.BrokerAddr] = append(brokers[l.BrokerAddr], core.BrokerAddress{ClusterName: l.ClusterName, BrokerAddr: l.BrokerAddr})
		}
	}
	if len(brokers) == 0 {
		return
	}
	var ctx context.Context
	ctx, c.cancel = context.WithCancel(context.Background())
	c.running.Go(func() {
		var refused []string
		answered := c.check(ctx, brokers, func(addr string) {
			refused = append(refused, addr)
			s.pass(change{command: &core.DropRestored{Brokers: brokers[addr]}}, s.clock.Now())
		})
		if ctx.Err() == nil {
			s.logger.Info("addresses of restored brokers tried", "addresses", len(brokers), "connected", answered, "refused", len(refused),
				"unclear", len(brokers)-answered-len(refused))
		}
	})
}

// check connects to each address, so many at a time, and calls refuses, never twice at once, for each that refuses. It returns how
// many took the connection.
func (c *routeCheck) check(ctx context.Context, brokers map[string][]core.BrokerAddress, refuses func(addr string)) (answered int) {
	var mu sync.Mutex
	var all sync.WaitGroup
	places := make(chan struct{}, mostChecks)
	for addr := range brokers {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			err := c.dial(ctx, addr)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				answered++
			case errors.Is(err, syscall.ECONNREFUSED) && ctx.Err() == nil:
				refuses(addr)
			}
		})
	}
	all.Wait()
	return answered
}

// end returns once nothing of the check runs.
func (c *routeCheck) end() {
	if c.cancel != nil {
		c.cancel()
		c.running.Wait()
	}
}

// tryConnect connects to addr and closes the connection. Of a name with several addresses all must refuse, and so the last error
// that isn't a refusal is returned.
func tryConnect(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	hosts, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return err
	}
	var d net.Dialer
	errs := make([]error, 0, len(hosts))
	for _, h := range hosts {
		conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(h, port))
		if err == nil {
			return conn.Close()
		}
		errs = append(errs, err)
	}
	if i := slices.IndexFunc(errs, func(err error) bool { return !errors.Is(err, syscall.ECONNREFUSED) }); i >= 0 {
		return errs[i]
	}
	return errors.Join(errs...)
}
