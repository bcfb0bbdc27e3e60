package codec

import (
	"math/bits"
	"unicode/utf8"
)

// AppendString appends s to dst as a JSON string literal in Apache's spelling:
// the short escapes \" \\ \b \f \n \r \t, \u00xx in lower case for the other
// control characters below 0x20, everything else raw. Bytes that are not UTF-8
// become U+FFFD, so the result always is.
//
// Source: Apache RocketMQ 5.5.0; its two dialects escape alike.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0 // of what is not yet appended
	for i := 0; i < len(s); {
		if i += plainRun(s[i:]); i == len(s) {
			break
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, s[start:i]...)
				dst = utf8.AppendRune(dst, utf8.RuneError)
				start = i + 1
			}
			i += n
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			start = i + 1
		}
		i++
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// plainRun returns a number of bytes at the head of s that stand for themselves: ASCII but for
// control characters, the quote and the backslash. It may stop early, at a byte that
// does too; eight bytes are looked at together.
func plainRun(s string) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		b := s[i : i+8]
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		q, e := w^'"'*ones, w^'\\'*ones
		// The lowest high bit left is exact; those above it may be borrows.
		if m := ((w-' '*ones)&^w | (q-ones)&^q | (e-ones)&^e | w) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	return i
}

// appendEscape appends the escape of a control character, a quote or a backslash.
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
