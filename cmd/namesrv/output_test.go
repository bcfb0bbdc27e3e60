package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/logfile"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// Output that nobody takes doesn't hold up the end of whoever hurries.
func TestFlushEndsWithASignal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close() // after r: whoever still writes fails
	out := openOutput(settings.Default(settings.Env{}), w, w)
	line := bytes.Repeat([]byte("x"), 256<<10) // more than a pipe takes
	line[len(line)-1] = '\n'
	for _, f := range []*logfile.File{out.stdout, out.stderr} {
		_, _ = f.Write(line)
	}
	p := process{signals: newSignals()}
	p.signals.stop <- os.Interrupt
	began := time.Now()
	p.flush(out, exitOK)
	if took := time.Since(began); len(p.signals.stop) != 0 || took >= flushTime {
		t.Errorf("it was the limit that ended it, after %v", took)
	}
}

// The lines about lines left out are the log's on standard error, and text on standard output.
func TestOutputSaysWhatIsLeftOut(t *testing.T) {
	var stdout, stderr strings.Builder
	s := settings.Default(settings.Env{})
	s.LogFormat = "json"
	out := openOutput(s, &stdout, &stderr)
	huge := strings.Repeat("x\n", 4<<20)
	for _, f := range []*logfile.File{out.stdout, out.stderr} {
		_, _ = f.Write([]byte(huge))
	}
	if err := out.close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if stdout.String() != "namesrv: 4194304 lines left out here\n" || !strings.HasPrefix(stderr.String(), "{") || !strings.Contains(stderr.String(), `"lines":4194304`) {
		t.Errorf("%q, %q", stdout.String(), stderr.String())
	}
}
