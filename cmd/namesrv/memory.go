package main

import (
	"errors"
	"log/slog"
	"math"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// limitMemory makes the garbage collector keep the process below nine tenths of what its control group may
// use, so that a container's limit slows it down before the kernel ends it. GOMEMLIMIT and AUTOMEMLIMIT of
// the environment go before. It returns what is in force; math.MaxInt64: nothing is.
func limitMemory(logger *slog.Logger) int64 {
	limit, err := memlimit.Set()
	switch {
	case errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported):
	case err != nil:
		logger.Warn("memory limit not set", "err", err)
	case limit < math.MaxInt64:
		logger.Info("memory limit", "bytes", limit)
	}
	return debug.SetMemoryLimit(-1)
}
