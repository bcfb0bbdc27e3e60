package storage

import (
	"errors"
	"fmt"
	"io/fs"
)

// Source says where a content was found.
type Source uint8

const (
	FromNothing Source = iota // neither file nor .bak: the first start
	FromFile
	FromBackup
)

// Loaded tells where a content comes from.
type Loaded struct {
	Source Source
	// Path of the file that was read; "" FromNothing.
	Path string
	// Problem with the file itself, FromBackup only: it is missing, empty or bad.
	// Changes made after the .bak was written are lost; say so loudly.
	Problem error
}

var errEmpty = errors.New("file is empty")

// Read returns the content of the file, or of its .bak when the file is
// missing, empty or bad and the .bak is good. A file or .bak that is bad without
// a good one beside it is an error. An empty file without .bak is an empty
// content, as in Apache. Nothing is written.
func (f *File) Read() ([]byte, Loaded, error) {
	path := resolve(f.Path)
	data, problem := f.readGood(path)
	if problem == nil {
		return data, Loaded{Source: FromFile, Path: path}, nil
	}
	missing, empty := errors.Is(problem, fs.ErrNotExist), errors.Is(problem, errEmpty)
	if !missing && !empty && !errors.As(problem, new(*badContent)) {
		return nil, Loaded{}, fmt.Errorf("storage: %w", problem)
	}
	backup, backupProblem := f.readGood(path + backupSuffix)
	switch {
	case backupProblem == nil:
		return backup, Loaded{Source: FromBackup, Path: path + backupSuffix, Problem: problem}, nil
	case !errors.Is(backupProblem, fs.ErrNotExist) && !errors.Is(backupProblem, errEmpty):
		return nil, Loaded{}, fmt.Errorf("storage: neither file nor backup can be used: %w; %w", problem, backupProblem)
	case missing:
		return nil, Loaded{}, nil
	case empty:
		return nil, Loaded{Source: FromFile, Path: path}, nil
	}
	return nil, Loaded{}, fmt.Errorf("storage: %w; there is no backup", problem)
}

// badContent is a content that Valid does not accept.
type badContent struct {
	path   string
	reason error
}

func (e *badContent) Error() string { return e.path + ": " + e.reason.Error() }
func (e *badContent) Unwrap() error { return e.reason }

// readGood returns a content that is not empty and valid.
func (f *File) readGood(path string) ([]byte, error) {
	data, err := f.ops().ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("%s: %w", path, errEmpty)
	}
	if err := f.check(data); err != nil {
		return nil, &badContent{path, err}
	}
	return data, nil
}
