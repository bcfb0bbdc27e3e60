package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/waymark-mq/waymark/namesrv/logfile"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// log is where the process writes what it does.
type log struct {
	*slog.Logger
	level *slog.LevelVar
	file  *logfile.File // nil: standard error
}

// openLog makes the log that the settings ask for.
func openLog(env settings.Env, s *settings.Settings, stderr io.Writer) (log, error) {
	l := log{level: new(slog.LevelVar)}
	l.level.Set(s.Level())
	out := stderr
	if path := s.LogFile(env); path != "" {
		f, err := logfile.Open(logfile.Options{
			Path: path, MaxMegabytes: s.LogMaxMegabytes, MaxBackups: s.LogMaxBackups,
			Missing: func(lines int) []byte { return l.missing(s, lines) },
			// What the file doesn't take is seen all the same.
			Failed: func(err error, lines []byte) {
				_, _ = fmt.Fprintf(stderr, "namesrv: log file not written: %v\n%s", err, lines)
			},
		})
		if err != nil {
			return log{}, err
		}
		l.file, out = f, f
	}
	l.Logger = slog.New(handler(s, out, l.level))
	return l, nil
}

func handler(s *settings.Settings, out io.Writer, level slog.Leveler) slog.Handler {
	o := &slog.HandlerOptions{Level: level}
	if strings.EqualFold(s.LogFormat, "json") {
		return slog.NewJSONHandler(out, o)
	}
	return slog.NewTextHandler(out, o)
}

// missing is the line that stands where others are missing.
func (l *log) missing(s *settings.Settings, lines int) []byte {
	var b strings.Builder
	slog.New(handler(s, &b, nil)).Warn("lines are missing here: the disk was slow or full", "lines", lines)
	return []byte(b.String())
}

// logFlushTime bounds the wait for the disk at the end.
const logFlushTime = 5 * time.Second

// close writes what waits.
func (l *log) close() {
	if l.file == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), logFlushTime)
	defer cancel()
	_ = l.file.Close(ctx)
}
