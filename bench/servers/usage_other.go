//go:build !linux

package servers

import (
	"errors"
	"time"
)

var errSystem = errors.New("servers: CPU and memory of a process can be read on Linux only")

func cpuTime(int) (time.Duration, error)           { return 0, errSystem }
func memory(int) (resident, peak int64, err error) { return 0, 0, errSystem }
