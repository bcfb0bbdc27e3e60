package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func mustWrite(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// startsWithGood is the validity of these tests.
func startsWithGood(data []byte) error {
	if len(data) >= 4 && string(data[:4]) == "good" {
		return nil
	}
	return errors.New("not good")
}

func goodFile(path string) *File { return &File{Path: path, Valid: startsWithGood} }

func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestWriteKeepsThePrevious(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "b")
	f := goodFile(filepath.Join(folder, "kv"))
	for _, content := range []string{"good 1", "good 2", "good 3"} {
		if err := f.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if got := mustRead(t, f.Path); got != "good 3" {
		t.Errorf("file holds %q", got)
	}
	if got := mustRead(t, f.Path+".bak"); got != "good 2" {
		t.Errorf(".bak holds %q", got)
	}
	if got := names(t, folder); !slices.Equal(got, []string{"kv", "kv.bak"}) {
		t.Errorf("folder holds %q", got)
	}
}

func TestFirstWriteHasNoBackup(t *testing.T) {
	folder := t.TempDir()
	if err := goodFile(filepath.Join(folder, "kv")).Write([]byte("good")); err != nil {
		t.Fatal(err)
	}
	if got := names(t, folder); !slices.Equal(got, []string{"kv"}) {
		t.Errorf("folder holds %q", got)
	}
}

func TestUnchangedWritesNothing(t *testing.T) {
	f := goodFile(filepath.Join(t.TempDir(), "kv"))
	mustWrite(t, f.Path, "good 1")
	mustWrite(t, f.Path+".bak", "good 0")
	before, _ := os.Stat(f.Path)
	d := &faultyDisk{}
	f.disk = d
	if err := f.Write([]byte("good 1")); err != nil {
		t.Fatal(err)
	}
	after, _ := os.Stat(f.Path)
	if !os.SameFile(before, after) || !before.ModTime().Equal(after.ModTime()) || mustRead(t, f.Path+".bak") != "good 0" || len(d.done) != 0 {
		t.Errorf("something was written: %q", d.done)
	}
}

// TestBadFileIsNotBackedUp: a good .bak outlives a file that was cut or emptied.
func TestBadFileIsNotBackedUp(t *testing.T) {
	for name, content := range map[string]string{"cut": "goo", "empty": "", "zeroes": "\x00\x00\x00\x00\x00\x00"} {
		t.Run(name, func(t *testing.T) {
			f := goodFile(filepath.Join(t.TempDir(), "kv"))
			mustWrite(t, f.Path, content)
			mustWrite(t, f.Path+".bak", "good 0")
			if err := f.Write([]byte("good 1")); err != nil {
				t.Fatal(err)
			}
			if file, backup := mustRead(t, f.Path), mustRead(t, f.Path+".bak"); file != "good 1" || backup != "good 0" {
				t.Errorf("file %q, .bak %q", file, backup)
			}
		})
	}
}

func TestWriteKeepsModeAndFollowsLinks(t *testing.T) {
	folder := t.TempDir()
	target := filepath.Join(folder, "target")
	mustWrite(t, target, "good 1")
	if err := os.Chmod(target, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if err := goodFile(link).Write([]byte("good 2")); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(target)
	if mustRead(t, target) != "good 2" || info.Mode().Perm() != 0o640 {
		t.Errorf("target %q, mode %v", mustRead(t, target), info.Mode())
	}
	if info, _ := os.Lstat(link); info.Mode()&fs.ModeSymlink == 0 {
		t.Error("the link was replaced")
	}
}

// TestLeftoverLinkIsNotFollowed: nothing is written through a link that stands
// where a candidate goes.
func TestLeftoverLinkIsNotFollowed(t *testing.T) {
	folder := t.TempDir()
	victim := filepath.Join(folder, "victim")
	mustWrite(t, victim, "untouched")
	f := goodFile(filepath.Join(folder, "kv"))
	if err := os.Symlink(victim, f.Path+".tmp"); err != nil {
		t.Skip(err)
	}
	if err := f.Write([]byte("good")); err != nil {
		t.Fatal(err)
	}
	if mustRead(t, victim) != "untouched" || mustRead(t, f.Path) != "good" {
		t.Errorf("victim holds %q", mustRead(t, victim))
	}
}

// TestUnwritable: a file stands where a folder is needed, so that it fails for
// the superuser too.
func TestUnwritable(t *testing.T) {
	obstacle := filepath.Join(t.TempDir(), "obstacle")
	mustWrite(t, obstacle, "x")
	for _, path := range []string{filepath.Join(obstacle, "kv"), filepath.Join(obstacle, "deeper", "kv")} {
		if err := goodFile(path).Write([]byte("good")); err == nil {
			t.Errorf("%s: written", path)
		}
	}
	folder := t.TempDir()
	if err := goodFile(folder).Write([]byte("good")); err == nil {
		t.Error("a folder was written over")
	}
	f := goodFile(filepath.Join(folder, "kv"))
	mustWrite(t, f.Path, "good 1")
	if err := os.MkdirAll(filepath.Join(f.Path+".tmp", "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.Write([]byte("good 2")); err == nil || mustRead(t, f.Path) != "good 1" {
		t.Errorf("%v, file holds %q", err, mustRead(t, f.Path))
	}
}

func TestRead(t *testing.T) {
	const absent = "\x00absent"
	for _, c := range []struct {
		name, file, backup, want string
		source                   Source
		fails                    bool
	}{
		{"both", "good 1", "good 0", "good 1", FromFile, false},
		{"no .bak", "good 1", absent, "good 1", FromFile, false},
		{"bad .bak", "good 1", "bad", "good 1", FromFile, false},
		{"nothing", absent, absent, "", FromNothing, false},
		{"only .bak", absent, "good 0", "good 0", FromBackup, false},
		{"emptied", "", "good 0", "good 0", FromBackup, false},
		{"empty and no .bak", "", absent, "", FromFile, false},
		{"both empty", "", "", "", FromFile, false},
		{"cut", "goo", "good 0", "good 0", FromBackup, false},
		{"cut and no .bak", "goo", absent, "", 0, true},
		{"cut and empty .bak", "goo", "", "", 0, true},
		{"both bad", "goo", "bad", "", 0, true},
		{"emptied and bad .bak", "", "bad", "", 0, true},
		{"missing and bad .bak", absent, "bad", "", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := goodFile(filepath.Join(t.TempDir(), "kv"))
			if c.file != absent {
				mustWrite(t, f.Path, c.file)
			}
			if c.backup != absent {
				mustWrite(t, f.Path+".bak", c.backup)
			}
			data, loaded, err := f.Read()
			if (err != nil) != c.fails || string(data) != c.want || loaded.Source != c.source || (loaded.Problem != nil) != (c.source == FromBackup) {
				t.Errorf("got %q, %+v, %v", data, loaded, err)
			}
		})
	}
	t.Run("a folder", func(t *testing.T) {
		folder := t.TempDir()
		mustWrite(t, folder+".bak", "good")
		if _, _, err := goodFile(folder).Read(); err == nil {
			t.Error("read")
		}
	})
}
