//go:build !race

// Package raceflag tells tests whether the race detector is on. It makes code
// allocate where it otherwise does not, so tests that count allocations skip then.
package raceflag

// Enabled is true in a build with the race detector.
const Enabled = false
