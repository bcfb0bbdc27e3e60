package logfile

import (
	"os"

	"gopkg.in/natefinch/lumberjack.v2"
)

// rotated is a lumberjack.Logger that notices when somebody has moved or removed its file: it would go on writing to that
// until it is full, where nobody looks.
type rotated struct {
	lumberjack.Logger
	seen os.FileInfo // of the file at the path when it was last written to
}

func (r *rotated) Write(p []byte) (int, error) {
	if info, err := os.Stat(r.Filename); err != nil || r.seen == nil || !os.SameFile(info, r.seen) {
		_ = r.Close() // opened, or made, again by the write
	}
	n, err := r.Logger.Write(p)
	r.seen, _ = os.Stat(r.Filename)
	return n, err
}
