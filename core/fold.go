package core

import "unicode"

// equalIgnoreCase compares zone names as Java's equalsIgnoreCase does: character by
// character, by upper case and then by the lower case of that. Unlike Unicode's
// folding it takes a dotless ı for an i.
func equalIgnoreCase(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		u, v := unicode.ToUpper(x[i]), unicode.ToUpper(y[i])
		if u != v && unicode.ToLower(u) != unicode.ToLower(v) {
			return false
		}
	}
	return true
}
