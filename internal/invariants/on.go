//go:build invariants

package invariants

import "fmt"

// Enabled reports whether this build checks invariants.
const Enabled = true

// Check panics with the formatted text unless ok: it means a bug of ours, never
// bad input. Without the tag it does nothing.
func Check(ok bool, format string, args ...any) {
	if !ok {
		panic("invariant broken: " + fmt.Sprintf(format, args...))
	}
}
