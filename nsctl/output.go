package nsctl

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"
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

// maxCell bounds what one cell of a table shows.
const maxCell = 200

// table writes cells in columns.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer, head ...any) *table {
	t := &table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	t.row(head...)
	return t
}

// row writes one line; a cell that is nil or "" is a dash.
func (t *table) row(cells ...any) {
	for i, c := range cells {
		text := ""
		if c != nil {
			text = printable(fmt.Sprint(c))
		}
		if len(text) > maxCell {
			text = strings.ToValidUTF8(text[:maxCell], "") + "…"
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

func (t *table) flush() { _ = t.w.Flush() }

// writeJSON writes a value and a line's end.
func (t *tool) writeJSON(v any) error {
	e := json.NewEncoder(t.Stdout)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return nil
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
