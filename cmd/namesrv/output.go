package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/waymark-mq/waymark/namesrv/logfile"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

const (
	flushTime       = 5 * time.Second        // bounds the wait at the end for the disk and for whoever reads the output
	forcedFlushTime = 500 * time.Millisecond // the same when somebody hurries
)

// output is where the process writes: standard output and error, behind memory of a bounded size, and the log, which goes to one
// of them or to a file. Nobody who writes waits for a reader or the disk.
type output struct {
	stdout, stderr *logfile.File
	logs           *logfile.File // nil: none
}

// openOutput puts the standard streams behind memory. The lines about lines left out are in the log's format on standard error.
func openOutput(s *settings.Settings, stdout, stderr io.Writer) *output {
	return &output{
		stdout: logfile.Stream("standard output", stdout, logfile.Options{
			Missing: func(lines int) []byte { return fmt.Appendf(nil, "namesrv: %d lines left out here\n", lines) },
		}),
		stderr: logfile.Stream("standard error", stderr, logfile.Options{
			Missing: func(lines int) []byte { return missing(s, lines) },
		}),
	}
}

// close writes what waits while ctx allows it.
func (o *output) close(ctx context.Context) error {
	var err error
	if o.logs != nil {
		err = o.logs.Close(ctx) // first: it says on standard error what it couldn't write
	}
	return errors.Join(err, o.stdout.Close(ctx), o.stderr.Close(ctx))
}

// flush ends the output. A signal to stop makes it give up soon what nobody takes.
func (p process) flush(o *output, exit int) {
	limit := flushTime
	if exit == exitForced {
		limit = forcedFlushTime
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	go func() {
		select {
		case <-p.signals.stop:
			time.AfterFunc(forcedFlushTime, cancel)
		case <-ctx.Done():
		}
	}()
	_ = o.close(ctx) // there is nobody left to tell
}
