// Package build tells which program this is, as far as the Go command wrote it down.
package build

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// Info is the program that runs; what isn't known is "unknown".
type Info struct {
	Version  string // of the module
	Revision string // of the source
	Go       string // version of Go
}

// String is the version, and where it comes from.
func (b Info) String() string { return b.Version + " (revision " + b.Revision + ", " + b.Go + ")" }

// Read returns it. Any goroutine.
var Read = sync.OnceValue(func() Info {
	const unknown = "unknown"
	b := Info{unknown, unknown, runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	return b
})
