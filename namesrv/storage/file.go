// Package storage keeps the nameserver's files, the KV table, the saved settings and (see WholeFile) the routes,
// so that a crash at any moment leaves a whole one behind.
//
// Apache copies the old content to <file>.bak and then rewrites the file in
// place, unsynced; it answers success whether or not that worked, and never
// reads the .bak. Here a content is written aside, synced, renamed over the
// file, and the folder synced, before anyone is told that it is stored.
//
// Why no library: those at hand sync the file but not the folder, and leave a
// randomly named file behind for each crash.
package storage

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	backupSuffix = ".bak" // Apache's name for the previous content
	asideSuffix  = ".tmp" // a candidate; one that is left over was never acknowledged
)

// File is one file that is replaced as a whole. Its owner is a single goroutine.
// The zero value of everything but Path is ready to use.
type File struct {
	Path string
	// Valid says why a content can't be used; nil: every content can. It is what
	// a good file is: a bad one is never copied to the .bak.
	Valid func([]byte) error

	disk disk // nil: the real one
	// unsure: the last Write failed after it may have changed something, so what
	// the file shows is not known to survive a crash.
	unsure bool
}

// Write makes data the content of the file, durably, and keeps the previous good
// content as <path>.bak. Missing folders are made. If the file holds data already
// nothing is written. After an error the file holds the old content or data,
// never a mixture; the same Write may be tried again.
func (f *File) Write(data []byte) error {
	path := resolve(f.Path)
	old, err := f.ops().ReadFile(path)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("storage: %w", err)
	}
	if exists && !f.unsure && bytes.Equal(old, data) {
		return nil
	}
	f.unsure = true
	if err := f.replace(path, old, exists, data); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	f.unsure = false
	return nil
}

// replace does the steps of Write in the only safe order: nothing that is in
// place is touched before the candidate is whole on the disk.
func (f *File) replace(path string, old []byte, exists bool, data []byte) error {
	folder := filepath.Dir(path)
	if err := makeFolder(f.ops(), folder); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := f.ops().WriteSynced(path+asideSuffix, mode, content(data)); err != nil {
		return err
	}
	if exists && len(old) > 0 && f.check(old) == nil && !bytes.Equal(old, data) {
		aside := path + backupSuffix + asideSuffix
		if err := f.ops().WriteSynced(aside, mode, content(old)); err != nil {
			return err
		}
		if err := f.ops().Rename(aside, path+backupSuffix); err != nil {
			return err
		}
	}
	if err := f.ops().Rename(path+asideSuffix, path); err != nil {
		return err
	}
	return f.ops().SyncFolder(folder)
}

func (f *File) check(data []byte) error {
	if f.Valid == nil {
		return nil
	}
	return f.Valid(data)
}

func (f *File) ops() disk {
	if f.disk == nil {
		return osDisk{}
	}
	return f.disk
}

// resolve follows symbolic links, so that the file behind one is replaced and
// not the link.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// makeFolder makes a folder and its parents and syncs every parent that has got
// a new entry.
func makeFolder(d disk, folder string) error {
	if info, err := os.Stat(folder); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(folder)
	if parent != folder {
		if err := makeFolder(d, parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.SyncFolder(parent)
}
