package admin

import (
	"runtime"
	"runtime/debug"
)

// build is the program that runs.
type build struct{ version, revision, goVersion string }

// readBuild reads what the Go command wrote into the program; what it didn't is "unknown".
func readBuild() build {
	b := build{version: "unknown", revision: "unknown", goVersion: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.revision = s.Value
		}
	}
	return b
}
