package properties

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape turns one side of a logical line into text; ok is false for a
// malformed \u.
func unescape(b []byte) (text string, ok bool) {
	var out strings.Builder
	out.Grow(len(b))
	var high rune // first half of a UTF-16 pair that waits for its second; 0: none
	for i := 0; i < len(b); i++ {
		c := rune(b[i])
		if c == '\\' && i+1 < len(b) {
			i++
			switch b[i] {
			case 't':
				c = '\t'
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 'f':
				c = '\f'
			case 'u':
				if c, ok = hex4(b[i+1:]); !ok {
					return "", false
				}
				i += 4
			default:
				c = rune(b[i])
			}
		}
		high = appendUnit(&out, high, c)
	}
	if high != 0 {
		out.WriteByte('?')
	}
	return out.String(), true
}

// appendUnit writes the UTF-16 code unit c behind the pending half high and
// returns what is pending now.
func appendUnit(out *strings.Builder, high, c rune) rune {
	if high != 0 {
		if pair := utf16.DecodeRune(high, c); pair != utf8.RuneError {
			out.WriteRune(pair)
			return 0
		}
		out.WriteByte('?')
	}
	switch {
	case c >= 0xD800 && c < 0xDC00:
		return c
	case utf16.IsSurrogate(c):
		out.WriteByte('?')
	default:
		out.WriteRune(c)
	}
	return 0
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// AppendEntry writes key=value and a line end to dst, so escaped that Parse and
// the JDK read back the same two strings. The line is ASCII and is one line
// whatever key and value hold.
func AppendEntry(dst []byte, key, value string) []byte {
	for _, r := range key {
		if strings.ContainsRune(" =:#!", r) {
			dst = append(dst, '\\')
		}
		dst = AppendEscaped(dst, r)
	}
	dst = append(dst, '=')
	if strings.HasPrefix(value, " ") {
		dst = append(dst, '\\')
	}
	for _, r := range value {
		dst = AppendEscaped(dst, r)
	}
	return append(dst, '\n')
}

// AppendEscaped writes one character as a value of a properties text holds it.
func AppendEscaped(dst []byte, r rune) []byte {
	switch r {
	case '\\':
		return append(dst, `\\`...)
	case '\t':
		return append(dst, `\t`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\f':
		return append(dst, `\f`...)
	}
	if r >= ' ' && r < 0x7F {
		return append(dst, byte(r))
	}
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return appendHex4(appendHex4(dst, high), low)
	}
	return appendHex4(dst, r)
}

func appendHex4(dst []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', digits[r>>12&15], digits[r>>8&15], digits[r>>4&15], digits[r&15])
}
