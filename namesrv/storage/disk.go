package storage

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// disk is what File does to the file system: the seam at which tests break it.
type disk interface {
	ReadFile(path string) ([]byte, error)
	// WriteSynced makes a new file with what write writes in it; it is whole on the disk, but
	// for its name, when nil is returned. A file of that name is replaced.
	WriteSynced(path string, mode fs.FileMode, write func(io.Writer) error) error
	Rename(from, to string) error
	// SyncFolder makes the names in a folder durable.
	SyncFolder(path string) error
}

// content writes data.
func content(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	}
}

type osDisk struct{}

func (osDisk) ReadFile(path string) ([]byte, error) { return os.ReadFile(path) }

func (osDisk) WriteSynced(path string, mode fs.FileMode, write func(io.Writer) error) (err error) {
	// A leftover goes first: a new file never writes through a link that stands there.
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(path) // the first error is the one that counts
		}
	}()
	if err := write(f); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

func (osDisk) Rename(from, to string) error { return os.Rename(from, to) }

func (osDisk) SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
