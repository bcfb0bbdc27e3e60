package servers

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Usage is what a process has used so far, and uses now.
type Usage struct {
	CPU      time.Duration
	Resident int64 // bytes
	Peak     int64 // the most that was resident, bytes
}

// Usage of the server's process. That of a process unknown is zero.
func (r *Running) Usage() (u Usage, err error) {
	if r.PID == 0 {
		return Usage{}, nil
	}
	if u.CPU, err = cpuTime(r.PID); err != nil {
		return u, err
	}
	u.Resident, u.Peak, err = memory(r.PID)
	return u, err
}

// parseStatus reads the lines VmRSS and VmHWM of /proc/PID/status.
func parseStatus(text string) (resident, peak int64, err error) {
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(line, ":")
		into := map[string]*int64{"VmRSS": &resident, "VmHWM": &peak}[key]
		if into == nil {
			continue
		}
		number, unit, _ := strings.Cut(strings.TrimSpace(value), " ")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || unit != "kB" {
			return 0, 0, fmt.Errorf("servers: memory: %q", strings.TrimSpace(line))
		}
		*into = n << 10
	}
	if resident == 0 || peak == 0 {
		return 0, 0, fmt.Errorf("servers: memory: no VmRSS or VmHWM; the process has ended")
	}
	return resident, peak, nil
}
