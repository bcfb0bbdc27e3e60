package audit

import (
	"bytes"
	"context"
	"time"

	"github.com/waymark-mq/waymark/namesrv/logfile"
)

// Options say where records go.
type Options struct {
	Path                     string
	MaxMegabytes, MaxBackups int
	Now                      func() time.Time           // wall clock
	Failed                   func(err error, lines int) // told of each write that failed, on a goroutine of the log's
}

// Log is the audit file. Its methods may be called from any goroutine and never wait for the disk. A nil Log writes nothing.
type Log struct {
	file *logfile.File
	now  func() time.Time
}

// Open opens the file; one that can't be written to is an error.
func Open(o Options) (*Log, error) {
	f, err := logfile.Open(logfile.Options{
		Path: o.Path, MaxMegabytes: o.MaxMegabytes, MaxBackups: o.MaxBackups,
		Missing: func(lines int) []byte {
			r := Record{Time: o.Now(), Event: Missing, Lines: lines}
			return r.line()
		},
		Failed: func(err error, lines []byte) { o.Failed(err, bytes.Count(lines, []byte("\n"))) },
	})
	if err != nil {
		return nil, err
	}
	return &Log{f, o.Now}, nil
}

// Write appends a record, with the time of now.
func (l *Log) Write(r *Record) {
	if l == nil {
		return
	}
	r.Time = l.now()
	_, _ = l.file.Write(r.line())
}

// Stats are counts of lines since the start.
func (l *Log) Stats() logfile.Stats {
	if l == nil {
		return logfile.Stats{}
	}
	return l.file.Stats()
}

// Close writes what waits; ctx bounds the wait for the disk.
func (l *Log) Close(ctx context.Context) error {
	if l == nil {
		return nil
	}
	return l.file.Close(ctx)
}
