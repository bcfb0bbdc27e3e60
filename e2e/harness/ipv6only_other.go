//go:build !linux

package harness

import "errors"

// EnterIPv6Only needs network namespaces.
func EnterIPv6Only(...string) error { return errors.ErrUnsupported }
