package netpoll

import (
	"errors"
	"math"
	"os"
	"syscall"
)

// errDescriptors is why accepting pauses before the kernel would refuse.
var errDescriptors = errors.New("netpoll: nearly all descriptors are in use, the last are kept for files")

const (
	unknownOpen = 32 // open descriptors assumed where they can't be counted
	minSpare    = 8
	maxSpare    = 1024
)

// descriptorPlan decides from the process's limit how many connections may be open and how many of them may be on their
// way to a loop, where each needs two descriptors. What is open already stays out of it, and a part is kept free, for
// otherwise the last connections would be lost on their way and files could no longer be written.
func descriptorPlan() (maxOpen, maxHandovers int) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return math.MaxInt, maxSpare
	}
	used := unknownOpen
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		used = len(open)
	}
	return planDescriptors(int(min(limit.Cur, math.MaxInt32)), used)
}

func planDescriptors(limit, used int) (maxOpen, maxHandovers int) {
	spare := min(max(limit/8, minSpare), maxSpare)
	return max(limit-used-spare, 1), spare / 2
}
