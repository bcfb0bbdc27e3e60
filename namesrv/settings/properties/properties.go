// Package properties reads and writes the text form of java.util.Properties,
// the format of the nameserver's configuration file and of the bodies of
// UPDATE_NAMESRV_CONFIG.
//
// The rules are those of the JDK (testdata/jdk17.jsonl holds its own answers):
// a logical line is a natural line joined with the next while it ends in an odd
// number of backslashes, the leading blanks of the joined lines dropped; '#' and
// '!' start a comment line; the key ends at the first unescaped '=', ':' or
// blank; both sides know \t \n \r \f and \uXXXX. They matter for safety too: a
// list of refused keys is worth nothing if a key can be spelt in a way that the
// check reads differently from the one who applies it.
package properties

import (
	"bytes"
	"fmt"
)

// Entry is one key with its value, in the order of the text. The same key may
// come more than once; the last one counts.
type Entry struct {
	Key, Value string
	// Line is the natural line, from 1, on which the entry starts.
	Line int
}

// SyntaxError is a \u that four hexadecimal digits do not follow: the one thing
// that is no properties text.
type SyntaxError struct{ Line int }

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("properties: line %d: malformed \\uxxxx", e.Line)
}

// Parse calls each for every entry, in order. It reads text as ISO-8859-1: each
// byte is one character. Escaped UTF-16 pairs become one character, half a pair
// becomes '?'. The strings are UTF-8 and do not alias text. A *SyntaxError comes
// after the entries before it were handed out. Memory: one logical line, so that
// millions of entries in a hostile body cost what each keeps of them.
func Parse(text []byte, each func(Entry)) error {
	r := lineReader{rest: text, line: 1}
	for {
		logical, line, ok := r.next()
		if !ok {
			return nil
		}
		rawKey, rawValue := split(logical)
		key, ok := unescape(rawKey)
		if !ok {
			return &SyntaxError{Line: line}
		}
		value, ok := unescape(rawValue)
		if !ok {
			return &SyntaxError{Line: line}
		}
		each(Entry{Key: key, Value: value, Line: line})
	}
}

// lineReader cuts a text into logical lines.
type lineReader struct {
	rest []byte
	line int    // natural line at which rest starts, from 1
	buf  []byte // the logical line; reused
}

// next returns the next logical line that is neither blank nor a comment,
// without its leading blanks and still escaped. It is valid until the next call.
func (r *lineReader) next() (logical []byte, line int, ok bool) {
	r.buf = r.buf[:0]
	for len(r.rest) > 0 {
		if len(r.buf) == 0 {
			line = r.line
		}
		natural := trimBlanks(r.cut())
		switch {
		case len(r.buf) == 0 && (len(natural) == 0 || natural[0] == '#' || natural[0] == '!'):
			// Nothing has begun, though a lone backslash may have gone before.
		case !continues(natural):
			r.buf = append(r.buf, natural...)
			return r.buf, line, true
		default:
			r.buf = append(r.buf, natural[:len(natural)-1]...)
		}
	}
	return r.buf, line, len(r.buf) > 0
}

// cut takes the next natural line off rest, without its line end.
func (r *lineReader) cut() []byte {
	i := bytes.IndexAny(r.rest, "\r\n")
	if i < 0 {
		natural := r.rest
		r.rest = nil
		return natural
	}
	natural := r.rest[:i]
	if r.rest[i] == '\r' && i+1 < len(r.rest) && r.rest[i+1] == '\n' {
		i++
	}
	r.rest = r.rest[i+1:]
	r.line++
	return natural
}

// continues reports whether a natural line ends in an odd number of backslashes.
func continues(line []byte) bool {
	n := 0
	for n < len(line) && line[len(line)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\f' }

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && isBlank(b[0]) {
		b = b[1:]
	}
	return b
}

// split finds the end of the key and the start of the value. Between them stand
// blanks and at most one '=' or ':'.
func split(line []byte) (key, value []byte) {
	end := 0
	for end < len(line) && line[end] != '=' && line[end] != ':' && !isBlank(line[end]) {
		if line[end] == '\\' {
			end++
		}
		end++
	}
	end = min(end, len(line))
	value = trimBlanks(line[end:])
	if len(value) > 0 && (value[0] == '=' || value[0] == ':') {
		value = trimBlanks(value[1:])
	}
	return line[:end], value
}
