package main

import (
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/waymark-mq/waymark/namesrv/logfile"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// log is where the process writes what it does.
type log struct {
	*slog.Logger
	level *slog.LevelVar
}

// openLog makes the log that the settings ask for: on standard error, or in a file that becomes out's to close.
func openLog(env settings.Env, s *settings.Settings, out *output) (log, error) {
	l := log{level: new(slog.LevelVar)}
	l.level.Set(s.Level())
	to := out.stderr
	if path := s.LogFile(env); path != "" {
		f, err := logfile.Open(logfile.Options{
			Path: path, MaxMegabytes: s.LogMaxMegabytes, MaxBackups: s.LogMaxBackups,
			Missing: func(lines int) []byte { return missing(s, lines) },
			// What the file doesn't take is seen all the same.
			Failed: func(err error, lines []byte) {
				_, _ = fmt.Fprintf(out.stderr, "namesrv: log file not written: %v\n%s", err, lines)
			},
		})
		if err != nil {
			return log{}, err
		}
		out.logs, to = f, f
	}
	l.Logger = slog.New(handler(s, to, l.level))
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
func missing(s *settings.Settings, lines int) []byte {
	var b strings.Builder
	slog.New(handler(s, &b, nil)).Warn("lines left out here: the disk, or whoever reads this, was slow or stood still", "lines", lines)
	return []byte(b.String())
}
