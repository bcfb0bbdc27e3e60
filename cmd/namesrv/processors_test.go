package main

import (
	"runtime"
	"testing"
)

func TestSpareProcessor(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	for _, tt := range []struct {
		name              string
		setting           int
		env               string
		loops, processors int
	}{
		{"one for each processor", 0, "", 4, 5},
		{"fewer", 2, "", 2, 4},
		{"as many", 4, "", 4, 5},
		{"more", 6, "", 6, 7},
		{"the environment says how many", 0, "4", 4, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runtime.GOMAXPROCS(4)
			loops := spareProcessor(tt.setting, func(string) string { return tt.env })
			if got := runtime.GOMAXPROCS(0); loops != tt.loops || got != tt.processors {
				t.Errorf("%d loops, %d processors; want %d, %d", loops, got, tt.loops, tt.processors)
			}
		})
	}
}
