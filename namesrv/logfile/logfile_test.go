package logfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const waitLimit = 20 * time.Second

// disk is what a file writes to: it can be slow, full, or full in the middle of a line.
type disk struct {
	mu      sync.Mutex
	text    bytes.Buffer
	room    int // bytes that still fit; negative: any number
	started chan struct{}
	gate    chan struct{} // each write waits for a token, if there is one
	closed  bool
}

var errFull = errors.New("no space left")

func (d *disk) Write(p []byte) (int, error) {
	if d.gate != nil {
		d.started <- struct{}{}
		<-d.gate
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.room >= 0 && len(p) > d.room {
		n := d.room
		d.text.Write(p[:n])
		d.room = 0
		return n, errFull
	}
	if d.room >= 0 {
		d.room -= len(p)
	}
	return d.text.Write(p)
}

func (d *disk) Close() error {
	d.closed = true
	return nil
}

func (d *disk) setRoom(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = n
}

func (d *disk) lines() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Split(strings.TrimSuffix(d.text.String(), "\n"), "\n")
}

func missing(n int) []byte { return fmt.Appendf(nil, "%d missing\n", n) }

func open(t *testing.T, d *disk, failed func(error, []byte)) *File {
	t.Helper()
	if failed == nil {
		failed = func(err error, _ []byte) { t.Errorf("failed: %v", err) }
	}
	return start(Options{Path: "disk", Missing: missing, Failed: failed}, d)
}

func closeFile(t *testing.T, f *File) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if err := f.Close(ctx); err != nil {
		t.Fatal(err)
	}
}

func await(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(waitLimit):
		t.Fatalf("%s: not within %v", what, waitLimit)
	}
}

func TestLinesInOrder(t *testing.T) {
	d := &disk{room: -1}
	f := open(t, d, nil)
	var want []string
	for i := range 5000 {
		line := fmt.Sprintf("line %d %s", i, strings.Repeat("x", i%97))
		want = append(want, line)
		fmt.Fprintln(f, line)
	}
	closeFile(t, f)
	closeFile(t, f) // again, it does nothing
	if got := d.lines(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%d lines, want %d in order", len(got), len(want))
	}
	if s := f.Stats(); s != (Stats{Written: 5000}) || !d.closed {
		t.Errorf("%+v, closed %v", s, d.closed)
	}
	fmt.Fprintln(f, "too late")
	if s := f.Stats(); s.Lost != 1 {
		t.Errorf("a line after the end is not counted: %+v", s)
	}
}

// While the disk takes nothing, whoever writes goes on, memory is bounded, and the file says where lines are missing.
func TestSlowDisk(t *testing.T) {
	d := &disk{room: -1, started: make(chan struct{}, 100), gate: make(chan struct{})}
	f := open(t, d, nil)
	fmt.Fprintln(f, "first")
	await(t, d.started, "the first write")
	line := strings.Repeat("x", 64<<10-1) + "\n"
	const fit = maxPendingBytes / (64 << 10)
	for range fit + 10 {
		_, _ = f.Write([]byte(line))
	}
	fmt.Fprintln(f, "short, but behind what is missing")
	if s := f.Stats(); s.Lost != 11 {
		t.Errorf("%+v, want 11 lost", s)
	}
	if cap(f.pending) > 2*maxPendingBytes {
		t.Errorf("%d bytes held", cap(f.pending))
	}
	go func() {
		for range d.started { // the rest isn't counted
		}
	}()
	close(d.gate)
	for len(d.lines()) < 1+fit+1 {
		fmt.Fprintln(f, "last") // some may fall into the gap
		time.Sleep(time.Millisecond)
	}
	closeFile(t, f)
	got := d.lines()
	var n int
	if _, err := fmt.Sscanf(got[1+fit], "%d missing", &n); err != nil || n < 11 || got[0] != "first" || got[fit]+"\n" != line {
		t.Errorf("after %d lines comes %.40q", 1+fit, got[1+fit])
	}
	if s := f.Stats(); int(s.Lost) != n || int(s.Written) != len(got)-1 {
		t.Errorf("%+v, want %d lost and %d written", s, n, len(got)-1)
	}
}

// A write that fails costs the lines in it, is told, and is made good by saying how many are missing once the disk takes lines again. A line
// of which a part was written doesn't spoil the next.
func TestFullDisk(t *testing.T) {
	for name, room := range map[string]int{"nothing fits": 0, "half a line fits": 3, "a line fits": 8, "a line and a half fit": 11} {
		t.Run(name, func(t *testing.T) {
			d := &disk{room: room}
			failures := make(chan string, 100)
			f := open(t, d, func(err error, rest []byte) {
				if !errors.Is(err, errFull) {
					t.Errorf("failed: %v", err)
				}
				failures <- string(rest)
			})
			_, _ = f.Write([]byte("line 1.\nline 2.\nline 3.\n"))
			var rest string
			select {
			case rest = <-failures:
			case <-time.After(waitLimit):
				t.Fatal("nobody is told")
			}
			lost := 3 - room/8
			if strings.Count(rest, "\n") != lost {
				t.Errorf("%q couldn't be written, want %d lines", rest, lost)
			}
			d.setRoom(-1)
			fmt.Fprintln(f, "line 4.")
			closeFile(t, f)
			text := "\n" + strings.Join(d.lines(), "\n") + "\n"
			for _, line := range []string{fmt.Sprintf("\n%d missing\nline 4.\n", lost)} {
				if !strings.HasSuffix(text, line) {
					t.Errorf("file %q, want %q at its end", text, line)
				}
			}
			if s := f.Stats(); s != (Stats{Written: uint64(4 - lost), Lost: uint64(lost)}) {
				t.Errorf("%+v, want %d lost", s, lost)
			}
		})
	}
}

// What is missing at the end is said at the end; a disk that takes nothing ever doesn't hold up the end.
func TestClose(t *testing.T) {
	d := &disk{room: -1, started: make(chan struct{}, 100), gate: make(chan struct{})}
	f := open(t, d, nil)
	fmt.Fprintln(f, "first")
	await(t, d.started, "the first write")
	_, _ = f.Write(append(bytes.Repeat([]byte("x"), maxPendingBytes), '\n'))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := f.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a stalled disk: %v", err)
	}
	close(d.gate)
	closeFile(t, f)
	if got := strings.Join(d.lines(), "|"); got != "first|1 missing" {
		t.Errorf("%q", got)
	}
}

func TestOpen(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, "logs", "deep", "audit.log")
	o := Options{Path: path, MaxMegabytes: 1, MaxBackups: 2, Missing: missing, Failed: func(err error, _ []byte) { t.Errorf("failed: %v", err) }}
	for i := range 2 { // the second goes on where the first ended
		f, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(f, "opened", i)
		closeFile(t, f)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != "opened 0\nopened 1\n" {
		t.Errorf("%q, %v", text, err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
	f, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 { // a megabyte is full after the second
		_, _ = f.Write(append(bytes.Repeat([]byte("x"), 600<<10), '\n'))
	}
	closeFile(t, f)
	awaitPutAside(t, filepath.Dir(path))
	if s := f.Stats(); s != (Stats{Written: 3}) {
		t.Errorf("%+v", s)
	}
}

// awaitPutAside waits until files were put aside and compressed, which lumberjack does for itself, also after Close.
func awaitPutAside(t *testing.T, folder string) {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); ; time.Sleep(time.Millisecond) {
		entries, _ := os.ReadDir(folder)
		compressed := 0
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".gz") {
				compressed++
			}
		}
		if compressed > 0 && compressed == len(entries)-1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("nothing was put aside, or not compressed: %v", entries)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	paths := map[string]string{"a folder": home, "below a file": filepath.Join(file, "x"), "no regular file": os.DevNull}
	if os.Getuid() != 0 {
		locked := filepath.Join(home, "locked")
		if err := os.Mkdir(locked, 0o500); err != nil {
			t.Fatal(err)
		}
		paths["a folder that can't be written to"] = filepath.Join(locked, "x")
	}
	for name, path := range paths {
		f, err := Open(Options{Path: path, MaxMegabytes: 1})
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}

// A file that somebody moves or removes is made anew; one that can't be costs the lines till then, and says so.
func TestFileTakenAway(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "logs")
	path := filepath.Join(folder, "audit.log")
	failed := make(chan struct{}, 100)
	f, err := Open(Options{Path: path, MaxMegabytes: 1, MaxBackups: 1, Missing: missing, Failed: func(error, []byte) { failed <- struct{}{} }})
	if err != nil {
		t.Fatal(err)
	}
	written := func(n uint64) {
		t.Helper()
		for deadline := time.Now().Add(waitLimit); f.Stats().Written < n; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%+v, want %d lines", f.Stats(), n)
			}
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintln(f, "one")
	written(1)
	must(os.Rename(path, path+".away"))
	fmt.Fprintln(f, "two")
	written(2)
	must(os.Remove(path))
	fmt.Fprintln(f, "three")
	written(3)
	must(os.Rename(folder, folder+".away"))
	must(os.WriteFile(folder, nil, 0o600))
	fmt.Fprintln(f, "four")
	await(t, failed, "the failure")
	must(os.Remove(folder))
	fmt.Fprintln(f, "five")
	written(4)
	closeFile(t, f)
	for name, want := range map[string]string{folder + ".away/audit.log.away": "one\n", folder + ".away/audit.log": "three\n", path: "1 missing\nfive\n"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	if s := f.Stats(); s != (Stats{Written: 4, Lost: 1}) {
		t.Errorf("%+v", s)
	}
}

// A stream that nobody reads holds nobody up. Once somebody does, what waited comes, then how much is missing; at the end it stays open.
func TestStreamNobodyReads(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := Stream("pipe", w, Options{Missing: missing})
	line := strings.Repeat("x", 1<<10-1) + "\n"
	written := 0
	for f.Stats().Lost == 0 {
		fmt.Fprint(f, line)
		if written++; written > 4*maxPendingBytes/len(line) {
			t.Fatal("memory isn't bounded")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Close(ctx); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "pipe") {
		t.Errorf("closed with %v", err)
	}
	go func() {
		defer w.Close()
		closeFile(t, f)
		fmt.Fprint(w, "still open")
	}()
	text, err := io.ReadAll(r)
	want := strings.Repeat(line, written-1) + "1 missing\nstill open"
	if err != nil || string(text) != want {
		t.Errorf("%d bytes that end with %q, %v", len(text), text[max(0, len(text)-50):], err)
	}
}

// A stream whose reader is gone costs its lines and nothing else.
func TestStreamWithoutReader(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	f := Stream("pipe", w, Options{Missing: missing})
	fmt.Fprintln(f, "lost")
	closeFile(t, f)
	if s := f.Stats(); s != (Stats{Lost: 1}) {
		t.Errorf("%+v", s)
	}
}
