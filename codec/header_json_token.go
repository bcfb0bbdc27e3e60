package codec

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// headerScanner reads the tokens of a JSON header from left to right. Text
// without escapes aliases the header, other text is unescaped to scratch.
type headerScanner struct {
	b       []byte
	i       int
	scratch []byte
}

func isDigit(c byte) bool       { return c-'0' <= 9 }
func isNumberStart(c byte) bool { return c == '-' || isDigit(c) }

func isBlank(c byte) bool {
	return c <= ' ' && (c == ' ' || c == '\n' || c == '\t' || c == '\r')
}

func (s *headerScanner) skipBlanks() {
	for s.i < len(s.b) && isBlank(s.b[s.i]) {
		s.i++
	}
}

// peek skips blanks and returns the next byte; 0, which begins nothing, at the end.
func (s *headerScanner) peek() byte {
	if s.skipBlanks(); s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// skip skips c if it is the next byte.
func (s *headerScanner) skip(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// key reads a member's name and its colon. At the end of the object, which may
// follow a comma, the name is nil; an empty name is not.
func (s *headerScanner) key() ([]byte, error) {
	switch s.peek() {
	case '}':
		s.i++
		return nil, nil
	case '"', '\'':
	default:
		return nil, ErrHeaderSyntax
	}
	key, err := s.string()
	if err != nil {
		return nil, err
	}
	if s.skipBlanks(); !s.skip(':') {
		return nil, ErrHeaderSyntax
	}
	return key, nil
}

// endMember reads what follows a member: a comma, or the end of the object.
func (s *headerScanner) endMember() (more bool, err error) {
	switch s.peek() {
	case ',':
		s.i++
		return true, nil
	case '}':
		s.i++
		return false, nil
	}
	return false, ErrHeaderSyntax
}

// text reads any value as text, null as nil.
func (s *headerScanner) text() ([]byte, error) {
	switch s.peek() {
	case '"', '\'':
		return s.string()
	case '{', '[':
		start := s.i
		if err := s.skipNested(); err != nil {
			return nil, err
		}
		return s.compact(s.b[start:s.i]), nil
	}
	text, err := s.scalar()
	if err != nil || text[0] == 'n' {
		return nil, err
	}
	return text, nil
}

// scalar reads a number, true, false or null.
func (s *headerScanner) scalar() ([]byte, error) {
	var word string
	switch s.peek() {
	case 't':
		word = "true"
	case 'f':
		word = "false"
	case 'n':
		word = "null"
	default:
		return s.number()
	}
	end := s.i + len(word)
	if end > len(s.b) || string(s.b[s.i:end]) != word {
		return nil, ErrHeaderSyntax
	}
	text := s.b[s.i:end]
	s.i = end
	return text, nil
}

// number reads [-] digits [. digits] [e [sign] digits].
func (s *headerScanner) number() ([]byte, error) {
	start := s.i
	s.skip('-')
	ok := s.skipDigits()
	if s.skip('.') {
		ok = s.skipDigits() && ok
	}
	if s.skip('e') || s.skip('E') {
		if !s.skip('-') {
			s.skip('+')
		}
		ok = s.skipDigits() && ok
	}
	if !ok {
		return nil, ErrHeaderSyntax
	}
	return s.b[start:s.i], nil
}

// skipDigits tells whether there was at least one.
func (s *headerScanner) skipDigits() bool {
	start := s.i
	for s.i < len(s.b) && isDigit(s.b[s.i]) {
		s.i++
	}
	return s.i > start
}

// string reads a string in the quotes that stand at s.i. The result is never nil.
func (s *headerScanner) string() ([]byte, error) {
	quote, start := s.b[s.i], s.i+1
	i := plainEnd(s.b, start, quote)
	if i < len(s.b) && s.b[i] == quote {
		s.i = i + 1
		return s.b[start:i:i], nil
	}
	return s.longString(start, i, quote)
}

// longString goes on with a string that holds something else than plain ASCII.
// start is where the text begins that is not in scratch yet.
func (s *headerScanner) longString(start, i int, quote byte) ([]byte, error) {
	b, mark, escaped := s.b, len(s.scratch), false
	for ; i < len(b); i = plainEnd(b, i, quote) {
		switch c := b[i]; {
		case c == quote:
			s.i = i + 1
			if !escaped {
				return b[start:i:i], nil
			}
			s.scratch = append(s.scratch, b[start:i]...)
			return s.scratch[mark:len(s.scratch):len(s.scratch)], nil
		case c == '\\':
			s.scratch = append(s.scratch, b[start:i]...)
			escaped = true
			n := s.unescape(b[i:])
			if n == 0 {
				return nil, ErrHeaderSyntax
			}
			i += n
			start = i
		default:
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return nil, ErrHeaderUTF8
			}
			i += n
		}
	}
	return nil, ErrHeaderSyntax
}

// plainEnd returns the index, from i on, of the first quote, backslash or
// non-ASCII byte, or len(b). It looks at eight bytes at a time.
func plainEnd(b []byte, i int, quote byte) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		// A byte of q or e is zero where the quote or a backslash stands.
		q := w ^ uint64(quote)*ones
		e := w ^ '\\'*ones
		// The lowest high bit left is exact; those above it may be borrows.
		if m := ((q-ones)&^q | (e-ones)&^e | w) & highs; m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(b); i++ {
		if c := b[i]; c == quote || c == '\\' || c >= utf8.RuneSelf {
			return i
		}
	}
	return i
}

// unescape appends to scratch what the escape at b[0] means and returns its
// length, 0 if there is no such escape. Half a surrogate pair becomes '?', as
// when Java writes it out.
func (s *headerScanner) unescape(b []byte) int {
	if len(b) > 1 && b[1] == '\'' {
		s.scratch = append(s.scratch, '\'')
		return 2
	}
	mark := len(s.scratch)
	dst, n := appendUnescaped(s.scratch, b)
	if r, ok := unicodeEscape(b); ok && n == 6 && utf16.IsSurrogate(r) {
		dst = append(dst[:mark], '?')
	}
	s.scratch = dst
	return n
}
