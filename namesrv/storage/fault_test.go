package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var errFault = errors.New("injected fault")

// faultyDisk is the real disk up to a step; that step fails and, with torn, has
// half of its effect. Every later step fails as well, as after a crash.
type faultyDisk struct {
	osDisk
	failAt int // from 1; 0: never
	torn   bool
	done   []string
}

func (d *faultyDisk) step(name, path string) (fails bool) {
	d.done = append(d.done, name+" "+filepath.Base(path))
	return d.failAt > 0 && len(d.done) >= d.failAt
}

func (d *faultyDisk) WriteSynced(path string, mode fs.FileMode, write func(io.Writer) error) error {
	if !d.step("write", path) {
		return d.osDisk.WriteSynced(path, mode, write)
	}
	if d.torn && len(d.done) == d.failAt {
		var data bytes.Buffer
		_ = write(&data)
		_ = os.WriteFile(path, data.Bytes()[:data.Len()/2], mode)
	}
	return errFault
}

func (d *faultyDisk) Rename(from, to string) error {
	if !d.step("rename", to) {
		return d.osDisk.Rename(from, to)
	}
	if d.torn && len(d.done) == d.failAt {
		_ = os.Rename(from, to) // it happened, but nobody was told
	}
	return errFault
}

func (d *faultyDisk) SyncFolder(path string) error {
	if !d.step("sync", path) {
		return d.osDisk.SyncFolder(path)
	}
	return errFault
}

// TestWriteOrder: no name changes before its content is synced, and the folder
// comes last.
func TestWriteOrder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "conf")
	d := &faultyDisk{}
	f := goodFile(filepath.Join(folder, "kv"))
	f.disk = d
	if err := f.Write([]byte("good 1")); err != nil {
		t.Fatal(err)
	}
	first := []string{"sync " + filepath.Base(filepath.Dir(folder)), "write kv.tmp", "rename kv", "sync conf"}
	if !slices.Equal(d.done, first) {
		t.Errorf("first write: %q, want %q", d.done, first)
	}
	d.done = nil
	if err := f.Write([]byte("good 2")); err != nil {
		t.Fatal(err)
	}
	second := []string{"write kv.tmp", "write kv.bak.tmp", "rename kv.bak", "rename kv", "sync conf"}
	if !slices.Equal(d.done, second) {
		t.Errorf("second write: %q, want %q", d.done, second)
	}
}

// TestFaultAtEveryStep: whatever step of a write fails or is the last one before
// a crash, file and .bak are good, the file holds the old or the new content,
// and the next write succeeds.
func TestFaultAtEveryStep(t *testing.T) {
	const steps = 5
	for failAt := 1; failAt <= steps; failAt++ {
		for _, torn := range []bool{false, true} {
			t.Run(fmt.Sprintf("step=%d/torn=%v", failAt, torn), func(t *testing.T) {
				folder := t.TempDir()
				f := goodFile(filepath.Join(folder, "kv"))
				mustWrite(t, f.Path, "good old")
				mustWrite(t, f.Path+".bak", "good older")
				f.disk = &faultyDisk{failAt: failAt, torn: torn}
				if err := f.Write([]byte("good new")); !errors.Is(err, errFault) {
					t.Fatalf("got %v", err)
				}
				data, loaded, err := goodFile(f.Path).Read()
				if err != nil || loaded.Source != FromFile || string(data) != "good old" && string(data) != "good new" {
					t.Errorf("after the crash: %q, %+v, %v", data, loaded, err)
				}
				if backup := mustRead(t, f.Path+".bak"); backup != "good old" && backup != "good older" {
					t.Errorf("after the crash .bak holds %q", backup)
				}
				// The same process tries again: what looks written is not known to be durable.
				retry := &faultyDisk{}
				f.disk = retry
				if err := f.Write([]byte("good new")); err != nil {
					t.Fatal(err)
				}
				if mustRead(t, f.Path) != "good new" || !slices.Contains(retry.done, "sync "+filepath.Base(folder)) {
					t.Errorf("retry: file %q, steps %q", mustRead(t, f.Path), retry.done)
				}
				if got := names(t, folder); !slices.Equal(got, []string{"kv", "kv.bak"}) && !slices.Contains(got, "kv.bak.tmp") {
					t.Errorf("folder holds %q", got)
				}
				if backup := mustRead(t, f.Path+".bak"); backup != "good old" && backup != "good older" {
					t.Errorf("after the retry .bak holds %q", backup)
				}
			})
		}
	}
}
