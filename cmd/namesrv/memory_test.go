package main

import (
	"log/slog"
	"math"
	"runtime/debug"
	"strings"
	"testing"
)

func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	for _, tt := range []struct {
		name, key, value string
		want             int64 // 0: any
		logged           string
	}{
		{"the environment says how much", "GOMEMLIMIT", "123456789", 123456789, "bytes=123456789"},
		{"switched off", "AUTOMEMLIMIT", "off", 123456789, "bytes=123456789"},
		{"no share of anything", "AUTOMEMLIMIT", "much", 123456789, "level=WARN"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(tt.key, tt.value)
			debug.SetMemoryLimit(123456789)
			var log strings.Builder
			limit := limitMemory(slog.New(slog.NewTextHandler(&log, nil)))
			if got := debug.SetMemoryLimit(-1); got != tt.want || limit != got {
				t.Errorf("limit %d, want %d", got, tt.want)
			}
			if !strings.Contains(log.String(), tt.logged) {
				t.Errorf("logged %q, want %q", log.String(), tt.logged)
			}
		})
	}
	debug.SetMemoryLimit(math.MaxInt64)
}
