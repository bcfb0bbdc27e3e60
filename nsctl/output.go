package nsctl

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/waymark-mq/waymark/internal/excerpt"
)

// printable returns a text without what a terminal would obey or hide: whatever isn't printed, line ends, tabs and bytes that are no UTF-8
// among it, stands as Go writes it, \x1b, \u202e.
func printable(s string) string {
	clean := true
	for _, r := range s {
		clean = clean && r != utf8.RuneError && strconv.IsPrint(r)
	}
	if clean {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			fmt.Fprintf(&b, `\x%02x`, s[0])
		} else if strconv.IsPrint(r) {
			b.WriteRune(r)
		} else {
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}

const (
	maxCell = 200  // bytes that one cell of a table shows
	maxLine = 4096 // bytes of other lines; an event of ours has less
)

// line is a text on one line of bounded length.
func line(s string) string { return excerpt.Of(printable(excerpt.Of(s, maxLine)), maxLine) }

// say writes a line to standard output.
func (t *tool) say(format string, a ...any) {
	_, _ = fmt.Fprintln(t.out, line(fmt.Sprintf(format, a...))) // the error stays
}

// flush writes what was said so far. Its error is that of any write before, too.
func (t *tool) flush() error {
	if err := t.out.Flush(); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
}

// table writes cells in columns to standard output.
type table struct{ w *tabwriter.Writer }

func (t *tool) newTable(head ...any) *table {
	w := &table{tabwriter.NewWriter(t.out, 0, 0, 2, ' ', 0)}
	w.row(head...)
	return w
}

// row writes one line; a cell that is nil or "" is a dash.
func (t *table) row(cells ...any) {
	for i, c := range cells {
		text := ""
		if c != nil {
			text = excerpt.Of(printable(excerpt.Of(fmt.Sprint(c), maxCell)), maxCell)
		}
		if text == "" {
			text = "-"
		}
		end := "\t"
		if i == len(cells)-1 {
			end = "\n"
		}
		_, _ = io.WriteString(t.w, text+end)
	}
}

func (t *table) end() { _ = t.w.Flush() } // an error of the output stays there

// writeJSON writes a value and a line's end. What isn't printed stands as an escape: a terminal obeys some of it, and JSON means the same.
func (t *tool) writeJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	escapeJSON(t.out, bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	_ = t.out.WriteByte('\n')
	return t.flush()
}

// escapeJSON writes a document in which characters that aren't printed, which stand in strings alone, are escapes. Bytes that are no
// UTF-8 are what readers of JSON take them for, U+FFFD.
func escapeJSON(w *bufio.Writer, document []byte) {
	for len(document) > 0 {
		r, n := utf8.DecodeRune(document)
		switch {
		case r == utf8.RuneError || strconv.IsPrint(r):
			_, _ = w.WriteRune(r)
		case r < 0x10000:
			_, _ = fmt.Fprintf(w, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			_, _ = fmt.Fprintf(w, `\u%04x\u%04x`, high, low)
		}
		document = document[n:]
	}
}

// ago is seconds as people say them.
func ago(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	case d < 48*time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	return fmt.Sprintf("%dd%dh", int(d.Hours())/24, int(d.Hours())%24)
}

// clock is a moment in UTC, as the API writes it.
func clock(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
