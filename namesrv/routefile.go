package namesrv

import (
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/routesnapshot"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/namesrv/storage"
)

const (
	// maxRouteFileBytes bounds the file that is read; a million topics take some 60 MB.
	maxRouteFileBytes = 1 << 30
	// futureSlack is how far ahead a file's time may be: clocks are set back by seconds, not by minutes.
	futureSlack = time.Minute
	// refreshesInMaxAge is how often the file is written in routeSnapshotMaxAgeMillis though nothing changes, so that the file of a
	// quiet cluster isn't too old to be used.
	refreshesInMaxAge = 4
)

// routeKeeper keeps the routes in a file (routeSnapshotPath), for the next process to serve at once.
//
// Ownership: the writer decides when (look), and hands a snapshot to the keeper's goroutine, which encodes and writes it; snapshots
// are immutable, so neither loops nor writer wait. One write at a time. The file is the goroutine's, before and after its life that
// of Start and Stop.
type routeKeeper struct {
	*Server
	file              storage.WholeFile
	interval, refresh int64 // nanoseconds

	asked *core.Snapshot // last handed to be written; writer only
	began int64          // and when, Clock's time; writer only

	todo       chan *core.Snapshot // of one
	busy       atomic.Bool         // from the writer's handing over to the end of the write
	unsaved    atomic.Bool         // the last write failed
	stop, done chan struct{}

	written, failed atomic.Uint64
	bytes           atomic.Int64 // of the file last written
	writtenAt       atomic.Int64 // when it was begun, Clock's time; 0: not yet
}

// openRoutes makes the keeper and restores what the file says; before the port is open, so that the first query finds it.
func (s *Server) openRoutes(c *settings.Settings) error {
	if c.RouteSnapshotPath == "" {
		return nil
	}
	for key, path := range map[string]string{"kvConfigPath": c.KVConfigPath, "configStorePath": c.ConfigStorePath, "auditLogPath": c.AuditLogPath} {
		if filepath.Clean(path) == filepath.Clean(c.RouteSnapshotPath) {
			return fmt.Errorf("routeSnapshotPath and %s are the same file: %s", key, path)
		}
	}
	k := &routeKeeper{
		Server: s, file: storage.WholeFile{Path: c.RouteSnapshotPath},
		interval: c.RouteSnapshotIntervalMillis * int64(time.Millisecond),
		refresh:  c.RouteSnapshotMaxAgeMillis * int64(time.Millisecond) / refreshesInMaxAge,
		todo:     make(chan *core.Snapshot, 1), stop: make(chan struct{}), done: make(chan struct{}),
	}
	s.routes = k
	k.restore(c)
	k.asked, k.began = s.table.Load(), s.clock.Now()-k.interval
	go k.run()
	return nil
}

// restore serves what the file says, if it says something and isn't too old. A file that can't be used never stops the start.
func (k *routeKeeper) restore(c *settings.Settings) {
	data, err := k.file.Read(maxRouteFileBytes)
	if err != nil {
		k.logger.Error("routes not restored: the file can't be read", "error", err)
	}
	if data == nil {
		return
	}
	state, at, err := routesnapshot.Parse(data)
	if err != nil {
		aside, failed := k.file.SetAside()
		if failed != nil {
			k.logger.Error("routes not restored: the file can't be used, and not be set aside either", "problem", err, "error", failed)
			return
		}
		k.logger.Error("routes not restored: the file can't be used and was set aside", "problem", err, "aside", aside)
		return
	}
	since := time.Duration(k.wall().UnixMilli()-at) * time.Millisecond
	maxAge := time.Duration(c.RouteSnapshotMaxAgeMillis) * time.Millisecond
	if since > maxAge || since < -futureSlack {
		k.logger.Warn("routes not restored: the file is too old, or from the future", "path", k.file.Path, "age", since, "maxAge", maxAge)
		return
	}
	now, out := k.clock.Now(), core.Outcome{}
	k.table.Step(now, []core.Command{&core.Restore{
		State: state, UntilNanos: now + c.RouteSnapshotGraceMillis*int64(time.Millisecond), SinceNanos: int64(max(since, 0)), MaxAgeNanos: int64(maxAge),
	}}, &out)
	k.warm = out.Results[0].Count > 0
	for _, effect := range out.Effects {
		if e, ok := effect.(*core.Event); ok {
			k.counts.event(e)
			k.history.record(e, "")
			k.events.log(e)
		}
	}
}

// look has the routes written if they have changed, or if the file grows old. Writer only, at each of its pulses.
func (k *routeKeeper) look(now int64) {
	s, since := k.table.Load(), now-k.began
	due := since >= k.refresh || since >= k.interval && (s != k.asked || k.unsaved.Load())
	if !due || !k.busy.CompareAndSwap(false, true) {
		return
	}
	k.asked, k.began = s, now
	k.todo <- s // there is room: whoever is busy has taken the last
}

func (k *routeKeeper) run() {
	defer close(k.done)
	for {
		select {
		case s := <-k.todo:
			k.write(s)
			k.busy.Store(false)
		case <-k.stop:
			return
		}
	}
}

func (k *routeKeeper) write(s *core.Snapshot) {
	began, bytes := k.clock.Now(), int64(0)
	err := k.file.Write(func(w io.Writer) (err error) {
		bytes, err = routesnapshot.Write(w, s.Export(began), k.wall().UnixMilli())
		return err
	})
	k.unsaved.Store(err != nil)
	if err != nil {
		k.failed.Add(1)
		k.events.fileFailed("routes not written; a restart would serve older ones, or none", err)
		return
	}
	k.bytes.Store(bytes)
	k.writtenAt.Store(began)
	k.written.Add(1)
}

// end ends the goroutine, and the write it is at. k may be nil.
func (k *routeKeeper) end() {
	if k != nil {
		close(k.stop)
		<-k.done
	}
}

// close ends, and writes the routes as they are in the end. The writer has ended. k may be nil.
func (k *routeKeeper) close() {
	if k.end(); k != nil {
		k.write(k.table.Load())
	}
}

// RouteFileStats tells of the file of routes; zero if none is kept.
type RouteFileStats struct {
	Written, Failed uint64
	Bytes           int64         // of the last that was written
	Age             time.Duration // since that; since the start without one
}

func (s *Server) routeFileStats(now int64) RouteFileStats {
	k := s.routes
	if k == nil {
		return RouteFileStats{}
	}
	at := k.writtenAt.Load()
	if at == 0 {
		at = s.started
	}
	return RouteFileStats{Written: k.written.Load(), Failed: k.failed.Load(), Bytes: k.bytes.Load(), Age: time.Duration(now - at)}
}

// Restored tells how far the restored brokers have registered.
type Restored struct {
	core.RestoreStatus
	Left time.Duration // until those that haven't are removed, 0 once they are due
}

func (r Restored) String() string {
	return fmt.Sprintf("restored %d brokers of %d clusters, %d confirmed, %d to come, %d s left",
		r.Brokers, r.Clusters, r.Confirmed, r.ToCome, int64(r.Left.Round(time.Second)/time.Second))
}

// Restored is false without restored routes, and once the grace is over. Any goroutine.
func (s *Server) Restored() (Restored, bool) {
	r, ok := s.table.Load().Restored()
	return Restored{r, time.Duration(max(r.UntilNanos-s.clock.Now(), 0))}, ok
}

// tellPeriod is how often the log says how many of the restored brokers are confirmed, if that has changed.
const tellPeriod = int64(10 * time.Second)

// tellRestored is the writer's account of a grace under way.
type tellRestored struct {
	told int // of those to come
	at   int64
}

// look tells how many are confirmed: once all are, and every so often. Writer only.
func (t *tellRestored) look(s *Server, now int64) {
	r, ok := s.Restored()
	if !ok || r.ToCome == t.told && t.at != 0 || r.ToCome > 0 && now-t.at < tellPeriod {
		return
	}
	t.told, t.at = r.ToCome, now
	s.logger.Info(r.String())
}
