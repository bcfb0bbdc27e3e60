package namesrv

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// threadNices counts the process's threads by nice value.
func threadNices(t *testing.T) map[int]int {
	t.Helper()
	paths, err := filepath.Glob("/proc/self/task/*/stat")
	if err != nil || len(paths) == 0 {
		t.Fatal(err, "no threads")
	}
	nices := map[int]int{}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			continue // it ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		fields := strings.Fields(rest)
		const nice = 16 // the 19th field of all
		n := 0
		if _, err := fmt.Sscan(fields[nice], &n); err != nil {
			t.Fatal(err)
		}
		nices[n]++
	}
	return nices
}

// alone is set in the environment of a process that runs one test.
const alone = "WAYMARK_TEST_ALONE"

// Decoders, and nobody else, run at a nice value of ten more than the process's.
func TestDecodersLeaveWay(t *testing.T) {
	if os.Getenv(alone) == "" { // other tests' threads may still be there
		program, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(program, "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), alone+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	base, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := min(20-base+decoderNice, 19)
	if want == 20-base {
		t.Skip("nothing is nicer than this process")
	}
	if n := threadNices(t); n[want] > 0 {
		t.Fatalf("threads by nice value before there is a decoder: %v", n)
	}
	s := start(t)
	s.dial().register(broker("a")) // decoders are at work
	eventually(t, "a decoder's thread with its nice value", func() bool { return threadNices(t)[want] > 0 })
	if n := threadNices(t); n[20-base] == 0 {
		t.Errorf("threads by nice value: %v", n)
	}
}
