// Package excerpt cuts what peers and files say to what a line or a record can bear.
package excerpt

import "unicode/utf8"

// Mark ends a text that was cut.
const Mark = "…"

// Of is s, or as much of it as fits into most bytes together with Mark, which then ends it. It is cut between characters, and a cut
// text, as one of bytes, doesn't keep s.
func Of[T string | []byte](s T, most int) string {
	if len(s) <= most {
		return string(s)
	}
	n := max(0, most-len(Mark))
	for least := max(0, n-utf8.UTFMax+1); n > least && !utf8.RuneStart(s[n]); {
		n--
	}
	return string(s[:n]) + Mark
}
