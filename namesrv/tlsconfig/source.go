package tlsconfig

import (
	"crypto/tls"
	"io/fs"
	"log/slog"
	"os"
	"sync/atomic"
	"time"
)

// watchInterval is how often the files are looked at, as Apache's nameserver does. A change is taken in once two looks have
// found it the same: files are rarely written in one stroke, and never both at once.
const watchInterval = 500 * time.Millisecond

// Source has the configuration as it is now.
//
// Concurrency contract: Config, Expiry and Reloads from any goroutine; the rest of the fields belong to the watcher, and
// before Start to who called Open.
type Source struct {
	properties *Properties
	logger     *slog.Logger
	current    atomic.Pointer[loaded] // nil: TLS is off

	files         []string
	seen          look // at the last check
	decided       look // what was taken in, or complained of
	reloads       atomic.Uint64
	failedReloads atomic.Uint64

	stop, done chan struct{} // nil: there is no watcher
}

// Open loads what p names and starts nothing. An error names property, place and reason.
func Open(p *Properties, logger *slog.Logger) (*Source, error) {
	s := &Source{properties: p, logger: logger}
	if p.Mode == Disabled {
		return s, nil
	}
	if !p.TestMode {
		s.files = p.files()
	}
	s.seen = lookAt(s.files) // before they are read: what changes meanwhile is noticed
	s.decided = s.seen
	l, err := p.load()
	if err != nil {
		return nil, err
	}
	s.current.Store(l)
	return s, nil
}

// files are those that make the configuration.
func (p *Properties) files() []string {
	files := []string{p.CertPath, p.KeyPath}
	if p.VerifyClient && p.TrustCertPath != "" {
		files = append(files, p.TrustCertPath)
	}
	return files
}

// Config is what a connection that begins now is to be served with; nil when TLS is off. It must not be changed.
func (s *Source) Config() *tls.Config {
	if l := s.current.Load(); l != nil {
		return l.config
	}
	return nil
}

// Required reports whether connections without TLS are refused.
func (s *Source) Required() bool { return s.properties.Mode == Enforcing }

// Expiry is when the certificate in use ends; ok is false when TLS is off.
func (s *Source) Expiry() (notAfter time.Time, ok bool) {
	if l := s.current.Load(); l != nil {
		return l.leaf.NotAfter, true
	}
	return time.Time{}, false
}

// Reloads counts changes of the files that were taken in, and those that could not be.
func (s *Source) Reloads() (done, failed uint64) { return s.reloads.Load(), s.failedReloads.Load() }

func (s *Source) log(l *loaded, what string) {
	args := []any{"mode", s.properties.Mode, "testMode", s.properties.TestMode, "clientAuth", l.config.ClientAuth.String(),
		"subject", l.leaf.Subject.String(), "notAfter", l.leaf.NotAfter.UTC().Format(time.RFC3339)}
	if now := time.Now(); now.After(l.leaf.NotAfter) || now.Before(l.leaf.NotBefore) {
		s.logger.Warn(what+", with a certificate that isn't valid now", args...)
		return
	}
	s.logger.Info(what, args...)
}

// Start says in the log what is in use and where that was found, and looks at the files from now on, until Close.
func (s *Source) Start() {
	s.properties.log(s.logger)
	if l := s.current.Load(); l == nil {
		s.logger.Info("TLS is off")
	} else {
		s.log(l, "TLS is on")
	}
	if len(s.files) == 0 || s.stop != nil {
		return
	}
	s.stop, s.done = make(chan struct{}), make(chan struct{})
	go s.watch()
}

func (s *Source) watch() {
	defer close(s.done)
	ticks := time.NewTicker(watchInterval)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			s.check()
		case <-s.stop:
			return
		}
	}
}

// Close ends the watcher, if there is one. The configuration stays.
func (s *Source) Close() {
	if s.stop != nil {
		close(s.stop)
		<-s.done
		s.stop = nil
	}
}

// check is one look at the files. What can't be used is said once for each state of the files; the configuration before
// stays.
func (s *Source) check() {
	now := lookAt(s.files)
	settled := now.same(s.seen)
	s.seen = now
	if !settled || now.same(s.decided) {
		return
	}
	s.decided = now
	l, err := s.properties.load()
	if err != nil {
		s.failedReloads.Add(1)
		s.logger.Error("TLS files have changed and can't be used: what was loaded before stays in use", "err", err)
		return
	}
	s.reloads.Add(1)
	s.current.Store(l)
	s.log(l, "TLS files have changed and are in use for connections from now on")
}

// look is what the file system says of some files; nil for one that can't be looked at.
type look []fs.FileInfo

func lookAt(files []string) look {
	l := make(look, len(files))
	for i, file := range files {
		if info, err := os.Stat(file); err == nil {
			l[i] = info
		}
	}
	return l
}

// same reports whether nothing has changed: another file, another size or another time is a change.
func (l look) same(other look) bool {
	for i, a := range l {
		b := other[i]
		if (a == nil) != (b == nil) {
			return false
		}
		if a != nil && !(os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())) {
			return false
		}
	}
	return true
}
