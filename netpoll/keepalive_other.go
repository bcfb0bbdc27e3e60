//go:build !linux

package netpoll

import "time"

// setUserTimeout does nothing: the option is Linux's. Unconfirmed data is left to the system's own limit.
func setUserTimeout(int, time.Duration) error { return nil }
