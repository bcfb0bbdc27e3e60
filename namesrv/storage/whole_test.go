package storage

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestWholeFileFaultAtEveryStep: whatever step of a write fails or is the last one before a crash, the file holds the old or the new
// content, and the next write succeeds and leaves nothing beside it.
func TestWholeFileFaultAtEveryStep(t *testing.T) {
	const steps = 3 // write, rename, sync
	for failAt := 1; failAt <= steps; failAt++ {
		for _, torn := range []bool{false, true} {
			t.Run(fmt.Sprintf("step=%d/torn=%v", failAt, torn), func(t *testing.T) {
				folder := t.TempDir()
				f := &WholeFile{Path: filepath.Join(folder, "routes"), disk: &faultyDisk{failAt: failAt, torn: torn}}
				mustWrite(t, f.Path, "old")
				if err := f.Write(content([]byte("new"))); !errors.Is(err, errFault) {
					t.Fatalf("got %v", err)
				}
				if got := mustRead(t, f.Path); got != "old" && got != "new" {
					t.Errorf("the file holds %q", got)
				}
				f.disk = nil
				if err := f.Write(content([]byte("newer"))); err != nil {
					t.Fatal(err)
				}
				if got := names(t, folder); mustRead(t, f.Path) != "newer" || !slices.Equal(got, []string{"routes"}) {
					t.Errorf("the file holds %q, the folder %q", mustRead(t, f.Path), got)
				}
			})
		}
	}
}

// TestWholeFileHalfWritten: a writer that fails in the middle leaves the old content and nothing beside it.
func TestWholeFileHalfWritten(t *testing.T) {
	folder := t.TempDir()
	f := &WholeFile{Path: filepath.Join(folder, "routes")}
	mustWrite(t, f.Path, "old")
	err := f.Write(func(w io.Writer) error {
		_, _ = io.WriteString(w, "ne")
		return errFault
	})
	if got := names(t, folder); !errors.Is(err, errFault) || mustRead(t, f.Path) != "old" || !slices.Equal(got, []string{"routes"}) {
		t.Errorf("%v, the file holds %q, the folder %q", err, mustRead(t, f.Path), got)
	}
}

func TestWholeFileReadAndSetAside(t *testing.T) {
	f := &WholeFile{Path: filepath.Join(t.TempDir(), "deeper", "routes")}
	if data, err := f.Read(3); data != nil || err != nil {
		t.Errorf("without a file: %q, %v", data, err)
	}
	if _, err := f.SetAside(); err == nil {
		t.Error("nothing was set aside")
	}
	if err := f.Write(content([]byte("123"))); err != nil {
		t.Fatal(err)
	}
	if data, err := f.Read(3); string(data) != "123" || err != nil {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := f.Read(2); err == nil {
		t.Error("too large a file was read")
	}
	aside, err := f.SetAside()
	if err != nil || mustRead(t, aside) != "123" {
		t.Errorf("%q, %v", aside, err)
	}
	if _, err := os.Stat(f.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("still there: %v", err)
	}
}
