//go:build invariants

package netpoll

// poison overwrites a frame its handler has returned from, so that a kept alias turns into garbage in tests.
func poison(frame []byte) {
	for i := range frame {
		frame[i] = 0xDB
	}
}
