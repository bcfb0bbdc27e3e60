package main

import "runtime"

// spareProcessor returns how many event loops to run for the setting eventLoops (0: one for each processor), and gives the
// runtime one more than they are, unless the environment says how many (GOMAXPROCS). A loop keeps the runtime's
// processor for a while when it waits in the kernel; with none to spare the acceptor, decoders and writer wait for the
// runtime to take one away, and a loop that comes back waits for theirs.
func spareProcessor(eventLoops int, getenv func(string) string) int {
	processors := runtime.GOMAXPROCS(0)
	if eventLoops == 0 {
		eventLoops = processors
	}
	if getenv("GOMAXPROCS") == "" && eventLoops >= processors {
		runtime.GOMAXPROCS(eventLoops + 1)
	}
	return eventLoops
}
