package servers

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/bench/floor"
)

// TestMain lets the test program be the floor's program.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "floor" {
		size, _ := strconv.Atoi(os.Args[len(os.Args)-1])
		if err := floor.Run(context.Background(), os.Args[3], 1, size); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

func onlyLinux(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads Linux's /proc and process clocks")
	}
}

func TestParseStatus(t *testing.T) {
	const status = "Name:\tjava\nVmPeak:\t  900000 kB\nVmHWM:\t    2000 kB\nVmRSS:\t    1500 kB\nRssAnon:\t  10 kB\n"
	if resident, peak, err := parseStatus(status); resident != 1500<<10 || peak != 2000<<10 || err != nil {
		t.Error(resident, peak, err)
	}
	for _, bad := range []string{"", "Name:\tjava\nState:\tZ (zombie)\n", strings.Replace(status, "1500", "x", 1), strings.Replace(status, "1500 kB", "1500 MB", 1)} {
		if _, _, err := parseStatus(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestUsageOfAnotherProcess has a process work and then wait.
func TestUsageOfAnotherProcess(t *testing.T) {
	onlyLinux(t)
	cmd := exec.Command("sh", "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; echo done; read stop")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer in.Close()
	r := &Running{PID: cmd.Process.Pid}
	before, err := r.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	after, err := r.Usage()
	if err != nil {
		t.Fatal(err)
	}
	if after.CPU-before.CPU < time.Millisecond || after.CPU > time.Minute {
		t.Errorf("50,000 turns of a shell took %v of CPU, %v in all", after.CPU-before.CPU, after.CPU)
	}
	if after.Resident < 100<<10 || after.Resident > after.Peak || after.Peak > 1<<30 {
		t.Errorf("%+v", after)
	}
}

func TestUsageOfNobody(t *testing.T) {
	if u, err := new(Running).Usage(); u != (Usage{}) || err != nil {
		t.Error(u, err)
	}
	onlyLinux(t)
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := (&Running{PID: ended.Process.Pid}).Usage(); err == nil {
		t.Error("a process that has ended has no usage")
	}
}

func TestStartAndStop(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := Floor(self, 1)
	s.AnswerSize = 300
	r, err := s.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if r.PID == 0 || r.Listening <= 0 || r.Alive() != nil {
		t.Errorf("%+v", r)
	}
	external, err := External("other", r.Addr, 0).Start(t.Context())
	if err != nil || external.Listening != 0 || external.Stop() != nil {
		t.Errorf("%+v, %v", external, err)
	}
	if err := r.Stop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(r.dir); err == nil {
		t.Error("its folder is still there")
	}
	if _, err := External("other", r.Addr, 0).Start(t.Context()); err == nil {
		t.Error("a server that isn't there is found")
	}
}

func TestServerThatEnds(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := Floor(self, 1) // an answer of no bytes: it ends at once
	if _, err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "an answer of 0 bytes") {
		t.Errorf("%v; want its output", err)
	}
}

func TestModuleRoot(t *testing.T) {
	root, err := ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "cmd", "namesrv")); err != nil {
		t.Error(err)
	}
	t.Setenv("GOWORK", "off")
	t.Chdir(t.TempDir())
	if _, err := ModuleRoot(); err == nil {
		t.Error("a folder outside is taken")
	}
}
