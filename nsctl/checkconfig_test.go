package nsctl

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestCheckConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "namesrv.properties")
	check := func(text string) result {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return run(t, "check-config", file)
	}
	check("listenPort=9876\nserverWorkerThreads=8\nenableTopicList=false\n").want(t, 0,
		"LINE KEY VALUE WORKS PROBLEM\n1 listenPort 9876 at restart -\n2 serverWorkerThreads 8 never: Apache's alone -\n3 enableTopicList false at once -", "")
	check("listenPort=1\nlistenPort=2\n").want(t, 1, "LINE KEY VALUE WORKS PROBLEM\n1 listenPort 1 - without effect: line 2 has the key again\n2 listenPort 2 at restart -",
		"nsctl: <file>: a nameserver starts with it, but not all of it has an effect", file, "<file>")
	check("listenprot=1\n").want(t, 1, "LINE KEY VALUE WORKS PROBLEM\n1 listenprot 1 - unknown key, kept without effect",
		"nsctl: <file>: a nameserver starts with it, but not all of it has an effect", file, "<file>")
	if got := check("listenPort=x\n"); got.code != 1 || !strings.Contains(got.stderr, "doesn't start") {
		t.Errorf("%+v", got)
	}
	for name, want := range map[string]string{"/dev/zero": "neither a regular file nor a pipe", t.TempDir(): "neither a regular file nor a pipe"} {
		if got := run(t, "check-config", name); got.code != exitFailed || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := check(strings.Repeat("#\n", 1<<20)); got.code != exitFailed || !strings.Contains(got.stderr, "more than") {
		t.Errorf("%+v", got)
	}
}

// A pipe is read like a file, to its end or as far as a file may go; one that nobody writes to is left when the operator wants.
func TestCheckConfigOfAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	checkPipe := func(write func(io.Writer)) result {
		written := make(chan struct{})
		go func() {
			defer close(written)
			if f, err := os.OpenFile(pipe, os.O_WRONLY, 0); err == nil {
				write(f)
				_ = f.Close()
			}
		}()
		defer func() { <-written }()
		return run(t, "check-config", pipe)
	}
	if got := checkPipe(func(w io.Writer) { _, _ = io.WriteString(w, "listenPort=9876\n") }); got.code != exitOK || !strings.Contains(got.stdout, "listenPort") {
		t.Errorf("%+v", got)
	}
	if got := checkPipe(func(w io.Writer) {
		for err := error(nil); err == nil; {
			_, err = w.Write(make([]byte, 4096))
		}
	}); got.code != exitFailed || !strings.Contains(got.stderr, "more than") {
		t.Errorf("%+v", got)
	}
	if got := runWith(canceled(t), "check-config", pipe); got.code != exitFailed || !strings.Contains(got.stderr, "interrupted") {
		t.Errorf("%+v", got)
	}
}
