//go:build !invariants

package invariants

// Enabled reports whether this build checks invariants.
const Enabled = false

// Check does nothing in this build. With the tag invariants it panics with the
// formatted text unless ok: it means a bug of ours, never bad input.
func Check(ok bool, format string, args ...any) {}
