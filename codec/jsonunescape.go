package codec

import "unicode/utf8"

// str reads a string. It aliases the input unless escapes or bytes that are
// not UTF-8 (each becomes U+FFFD) force a copy into the scratch. Raw control
// characters are let through.
func (r *jsonReader) str() []byte {
	if r.peek() != '"' {
		r.fail("want a string")
		return nil
	}
	r.pos++
	start := r.pos
	var seen byte
	for i := start; i < len(r.b); i++ {
		switch c := r.b[i]; c {
		case '"':
			r.pos = i + 1
			return r.utf8(r.b[start:i], seen)
		case '\\':
			return r.unescape(start, i)
		default:
			seen |= c
		}
	}
	r.fail("string without end")
	return nil
}

// unescape reads the rest of a string from its first backslash on; start is
// where the string began.
func (r *jsonReader) unescape(start, backslash int) []byte {
	s := append(r.scratch[:0], r.b[start:backslash]...)
	for i := backslash; i < len(r.b); {
		switch c := r.b[i]; c {
		case '"':
			r.pos, r.scratch = i+1, s
			return r.utf8(s, utf8.RuneSelf)
		case '\\':
			var n int
			if s, n = appendUnescaped(s, r.b[i:]); n == 0 {
				r.pos = i
				r.fail("bad escape")
				return nil
			}
			i += n
		default:
			s = append(s, c)
			i++
		}
	}
	r.fail("string without end")
	return nil
}

// utf8 returns s, or a repaired copy of it in the scratch. seen is the OR of
// its bytes.
func (r *jsonReader) utf8(s []byte, seen byte) []byte {
	if seen < utf8.RuneSelf || utf8.Valid(s) {
		return s
	}
	repaired := make([]byte, 0, len(s)+utf8.UTFMax)
	for len(s) > 0 {
		c, n := utf8.DecodeRune(s)
		repaired = utf8.AppendRune(repaired, c)
		s = s[n:]
	}
	r.scratch = repaired
	return repaired
}

// appendUnescaped appends what the escape at the start of b stands for and
// returns the escape's length, 0 if it is none. Half of a surrogate pair is U+FFFD.
func appendUnescaped(dst, b []byte) ([]byte, int) {
	if len(b) < 2 {
		return dst, 0
	}
	switch c := b[1]; c {
	case '"', '\\', '/':
		return append(dst, c), 2
	case 'b':
		return append(dst, '\b'), 2
	case 'f':
		return append(dst, '\f'), 2
	case 'n':
		return append(dst, '\n'), 2
	case 'r':
		return append(dst, '\r'), 2
	case 't':
		return append(dst, '\t'), 2
	}
	high, ok := unicodeEscape(b)
	if !ok {
		return dst, 0
	}
	if high&^0x3ff == 0xd800 {
		if low, ok := unicodeEscape(b[6:]); ok && low&^0x3ff == 0xdc00 {
			return utf8.AppendRune(dst, 0x10000+(high&0x3ff)<<10+low&0x3ff), 12
		}
	}
	return utf8.AppendRune(dst, high), 6 // a surrogate is no rune: U+FFFD
}

// unicodeEscape reads \uXXXX at the start of b.
func unicodeEscape(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var v rune
	for _, c := range b[2:6] {
		switch {
		case c-'0' <= 9:
			v = v<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = v<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return v, true
}
