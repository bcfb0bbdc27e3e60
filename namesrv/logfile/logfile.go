// Package logfile appends lines to a file that is put aside by size, or to a stream such as standard error. Whoever writes never
// waits for the disk, or for whoever reads the stream: lines go into memory of a bounded size, which one goroutine writes. What finds
// no room there, or can't be written, is counted, and the file says at that place how many lines are missing.
package logfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"gopkg.in/natefinch/lumberjack.v2"
)

// Options say where lines go.
type Options struct {
	Path         string
	MaxMegabytes int // size at which the file is put aside, compressed, beside the new one; at least 1
	MaxBackups   int // files put aside that are kept; 0: all
	// Missing makes the line, its end included, that stands where so many lines are missing.
	Missing func(lines int) []byte
	// Failed is told of each write that failed and of the lines that were in it. It runs on the file's goroutine. nil: nobody is.
	Failed func(err error, lines []byte)
}

const (
	maxPendingBytes = 4 << 20  // what may wait to be written
	maxChunkBytes   = 64 << 10 // of one write; a file is put aside between writes
)

// File is such a file, or a stream.
//
// Concurrency contract
//
//	Write, Stats:  any goroutine; they share a lock that nobody holds while out is written
//	run:           the file's goroutine; it alone touches out, torn and missing
type File struct {
	o   Options
	out io.WriteCloser

	mu      sync.Mutex
	pending []byte // whole lines, in order
	dropped int    // lines that came after pending was full; from then on all are until it is taken
	closed  bool
	stats   Stats

	wake       chan struct{} // holds a token while lines may wait
	stop, done chan struct{}

	torn    bool // the file ends within a line
	missing int  // lines that the file has yet to say are missing
}

// Stats are counts of lines since the start.
type Stats struct{ Written, Lost uint64 }

// Open opens or makes the file, and its folder. A file that can't be appended to, or a folder that no other file can be made
// in, is an error: it would show when the file is to be put aside, too late.
func Open(o Options) (*File, error) {
	if err := check(o.Path); err != nil {
		return nil, fmt.Errorf("logfile: %w", err)
	}
	return start(o, &rotated{Logger: lumberjack.Logger{
		Filename: o.Path, MaxSize: o.MaxMegabytes, MaxBackups: o.MaxBackups, Compress: true,
	}}), nil
}

// Stream puts lines on out, a pipe or a terminal for instance, which stays open; name is its name in errors. Of the options it has
// use for Missing and Failed alone.
func Stream(name string, out io.Writer, o Options) *File {
	o.Path = name
	return start(o, unclosed{out})
}

// unclosed is somebody else's to close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

func check(path string) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for its reader
		return fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	trial, err2 := os.CreateTemp(folder, filepath.Base(path)+".")
	if err2 == nil {
		err2 = errors.Join(trial.Close(), os.Remove(trial.Name()))
	}
	return errors.Join(f.Close(), err2)
}

func start(o Options, out io.WriteCloser) *File {
	if o.Failed == nil {
		o.Failed = func(error, []byte) {}
	}
	f := &File{o: o, out: out, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go f.run()
	return f
}

// Write takes one line, its end included, or several. It never waits and never fails.
func (f *File) Write(line []byte) (int, error) {
	f.mu.Lock()
	if f.closed || f.dropped > 0 || len(f.pending)+len(line) > maxPendingBytes {
		f.dropped += bytes.Count(line, newline)
	} else {
		f.pending = append(f.pending, line...)
	}
	f.mu.Unlock()
	select {
	case f.wake <- struct{}{}:
	default:
	}
	return len(line), nil
}

var newline = []byte("\n")

// Stats returns the counts so far. What waits is in neither.
func (f *File) Stats() Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.stats
	s.Lost += uint64(f.dropped)
	return s
}

// Close writes what waits and closes a file; ctx bounds the wait for a slow disk or reader. Lines that come later are lost.
func (f *File) Close(ctx context.Context) error {
	f.mu.Lock()
	again := f.closed
	f.closed = true
	f.mu.Unlock()
	if !again {
		close(f.stop)
	}
	select {
	case <-f.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("logfile: %s: lines not written: %w", f.o.Path, ctx.Err())
	}
}

func (f *File) run() {
	defer close(f.done)
	var buf []byte
	for stopping := false; !stopping; {
		select {
		case <-f.wake:
		case <-f.stop:
			stopping = true
		}
		lines, dropped := f.take(buf)
		f.write(lines)
		f.missing += dropped
		buf = lines
	}
	f.say()
	_ = f.out.Close()
}

// take returns what waits, and how many lines came behind that found no room. buf's memory is used for what comes next.
func (f *File) take(buf []byte) (lines []byte, dropped int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines, f.pending = f.pending, buf[:0]
	dropped, f.dropped = f.dropped, 0
	f.stats.Lost += uint64(dropped)
	return lines, dropped
}

func (f *File) write(lines []byte) {
	for len(lines) > 0 {
		n := len(lines)
		if n > maxChunkBytes {
			n = bytes.LastIndexByte(lines[:maxChunkBytes], '\n') + 1
			if n == 0 { // one long line
				n = bytes.IndexByte(lines, '\n') + 1
			}
		}
		f.say()
		f.missing += f.put(lines[:n])
		lines = lines[n:]
	}
}

// say writes how many lines are missing here, if any are.
func (f *File) say() {
	if f.missing > 0 && len(f.append(f.o.Missing(f.missing))) == 0 {
		f.missing = 0
	}
}

// put writes whole lines and returns how many of them are not in the file.
func (f *File) put(lines []byte) (lost int) {
	rest := f.append(lines)
	lost = bytes.Count(rest, newline)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.Written += uint64(bytes.Count(lines, newline) - lost)
	f.stats.Lost += uint64(lost)
	return lost
}

// append writes lines and returns those that aren't in the file. A line of which a part got there is ended before the next.
func (f *File) append(lines []byte) (rest []byte) {
	if f.torn {
		if _, err := f.out.Write(newline); err != nil {
			f.o.Failed(err, lines)
			return lines
		}
		f.torn = false
	}
	n, err := f.out.Write(lines)
	if err == nil {
		return nil
	}
	whole := bytes.LastIndexByte(lines[:n], '\n') + 1
	f.torn = n > whole
	f.o.Failed(err, lines[whole:])
	return lines[whole:]
}
