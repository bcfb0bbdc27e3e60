package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Line is one line of a capture: a note, an event or a frame, in the order in
// which a proxy between the peers and Apache's nameserver saw them.
type Line struct {
	Millis int64           `json:"t_ms"`   // since the first line
	Note   string          `json:"note"`   // what was done to the peers at that moment
	Conn   *int            `json:"conn"`   // TCP connection, from 0; nil on note lines
	Link   string          `json:"link"`   // who opened it, in files with several peers
	Event  string          `json:"event"`  // open or close
	Dir    string          `json:"dir"`    // ">" from the side that opened the connection; on close: the side that ended it
	Type   byte            `json:"type"`   // header type of the frame
	Header json.RawMessage `json:"header"` // for reading; only Frame counts
	Frame  []byte          `json:"frame"`  // the whole frame
	File   string          `json:"-"`      // name of the capture
	Line   int             `json:"-"`      // in its file, from 1
}

// ReadCapture reads one capture.
func ReadCapture(name string, r io.Reader) ([]Line, error) {
	var lines []Line
	err := eachLine(r, func(line int, b []byte) error {
		l := Line{File: name, Line: line}
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			return err
		}
		lines = append(lines, l)
		return nil
	})
	return lines, err
}

// Merge puts two captures of one nameserver together: b began offset
// milliseconds later. Connections of b are numbered after those of a.
func Merge(a, b []Line, offset int64) []Line {
	after := 0
	for _, l := range a {
		if l.Conn != nil {
			after = max(after, *l.Conn+1)
		}
	}
	merged := slices.Clone(a)
	for _, l := range b {
		l.Millis += offset
		if l.Conn != nil {
			n := *l.Conn + after
			l.Conn = &n
		}
		merged = append(merged, l)
	}
	slices.SortStableFunc(merged, func(x, y Line) int { return int(x.Millis - y.Millis) })
	return merged
}

// fromServer tells whether the nameserver opened the connection.
func (l *Line) fromServer() bool { return strings.HasPrefix(l.Link, "ns-to-") }

// where names the line in reports.
func (l *Line) where() string { return fmt.Sprintf("%s:%d", l.File, l.Line) }
