//go:build !linux

package harness

import "errors"

// Connections can only be told on Linux.
func (p *Process) Connections() (map[string]int, error) {
	return nil, errors.New("harness: connections of a process are listed on Linux only")
}
