package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// asideForGood ends the name of a content that can't be used and is kept to be looked at.
const asideForGood = ".corrupt"

// WholeFile is a file that is replaced as a whole by what can be made again: without a backup, and without being held in memory
// while it is written. Its owner is a single goroutine.
type WholeFile struct {
	Path string

	disk disk // nil: the real one
}

// Write makes what write writes the content of the file: aside, synced, then renamed over it. Missing folders are made. After an
// error the file holds the old content or the new one, never a mixture.
func (f *WholeFile) Write(write func(io.Writer) error) error {
	path := resolve(f.Path)
	if err := f.replace(path, write); err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	return nil
}

func (f *WholeFile) replace(path string, write func(io.Writer) error) error {
	const mode = fs.FileMode(0o644)
	folder := filepath.Dir(path)
	if err := makeFolder(f.ops(), folder); err != nil {
		return err
	}
	if err := f.ops().WriteSynced(path+asideSuffix, mode, write); err != nil {
		return err
	}
	if err := f.ops().Rename(path+asideSuffix, path); err != nil {
		return err
	}
	return f.ops().SyncFolder(folder)
}

// Read returns the content, nil without a file. More than most bytes are an error.
func (f *WholeFile) Read(most int64) ([]byte, error) {
	file, err := os.Open(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("storage: %s has more than %d bytes", f.Path, most)
	}
	return data, nil
}

// SetAside gives a content that can't be used another name, which it returns; one that has that name goes.
func (f *WholeFile) SetAside() (string, error) {
	path := resolve(f.Path)
	if err := f.ops().Rename(path, path+asideForGood); err != nil {
		return "", fmt.Errorf("storage: %w", err)
	}
	return path + asideForGood, nil
}

func (f *WholeFile) ops() disk {
	if f.disk == nil {
		return osDisk{}
	}
	return f.disk
}
