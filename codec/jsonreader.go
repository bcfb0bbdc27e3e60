package codec

import (
	"errors"
	"fmt"
)

// ErrNullBody says that a body is the JSON value null where an object belongs.
var ErrNullBody = errors.New("codec: body is null")

// jsonReader pulls members and values out of a JSON body in one pass, without
// a tree and without recursion. Beyond standard JSON it takes what Java peers
// write: object keys that are bare integers ({0:"a",-1:"b"}).
//
// The first error sticks; after it every container is at its end and every
// value reads as zero, so callers look at err once, when done.
//
// Byte slices it returns alias the input or the reader's scratch and are good
// until the next string is read.
type jsonReader struct {
	b       []byte
	pos     int
	fresh   bool // a container was just opened, so no comma is due
	err     error
	scratch []byte // the last string that could not alias the input
}

// reset starts on another body; the scratch is kept.
func (r *jsonReader) reset(b []byte) {
	*r = jsonReader{b: b, scratch: r.scratch}
}

func (r *jsonReader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("json at byte %d: %s", r.pos, what)
	}
}

// peek skips blanks and returns the byte that follows, 0 at the end or after an error.
func (r *jsonReader) peek() byte {
	if r.err != nil {
		return 0
	}
	for r.pos < len(r.b) {
		switch c := r.b[r.pos]; c {
		case ' ', '\n', '\r', '\t':
			r.pos++
		default:
			return c
		}
	}
	return 0
}

// root opens the object that is the whole body. null is ErrNullBody.
func (r *jsonReader) root() bool {
	if r.null() {
		r.err = ErrNullBody
		return false
	}
	return r.open('{')
}

// finish checks that only blanks follow and returns the first error.
func (r *jsonReader) finish() error {
	if r.peek(); r.err == nil && r.pos < len(r.b) {
		r.fail("bytes after the end")
	}
	return r.err
}

// open consumes the opening bracket of a container.
func (r *jsonReader) open(bracket byte) bool {
	if r.peek() != bracket {
		r.fail("want '" + string(rune(bracket)) + "'")
		return false
	}
	r.pos++
	r.fresh = true
	return true
}

// member moves to the next member of the innermost object and returns its key,
// or consumes the closing bracket and returns false. The caller consumes the value.
func (r *jsonReader) member() (key []byte, ok bool) {
	c, ok := r.step('}')
	if !ok {
		return nil, false
	}
	if c == '"' {
		key = r.str()
	} else {
		key = r.bareKey()
	}
	if r.peek() != ':' {
		r.fail("want ':'")
		return nil, false
	}
	r.pos++
	return key, true
}

// element moves to the next element of the innermost array, or consumes the
// closing bracket and returns false.
func (r *jsonReader) element() bool {
	_, ok := r.step(']')
	return ok
}

// step consumes the comma before the next entry of a container, if one is due,
// and returns the entry's first byte; or consumes the closing bracket.
func (r *jsonReader) step(closing byte) (first byte, ok bool) {
	c := r.peek()
	if c == closing {
		r.pos++
		r.fresh = false
		return 0, false
	}
	if !r.fresh {
		if c != ',' {
			r.fail("want ',' or '" + string(rune(closing)) + "'")
			return 0, false
		}
		r.pos++
		c = r.peek()
	}
	r.fresh = false
	return c, r.err == nil
}

// bareKey reads an integer key without quotes.
func (r *jsonReader) bareKey() []byte {
	start := r.pos
	if r.pos < len(r.b) && r.b[r.pos] == '-' {
		r.pos++
	}
	if r.digits() == 0 {
		r.fail("want a key")
	}
	return r.b[start:r.pos]
}

// null consumes a null if that is what follows.
func (r *jsonReader) null() bool { return r.peek() == 'n' && r.literal("null") }

// boolean reads true, false, null (false) or one of them as a string.
func (r *jsonReader) boolean() bool {
	switch r.peek() {
	case '"':
		return string(r.str()) == "true"
	case 't':
		return r.literal("true")
	case 'n':
		r.literal("null")
	default:
		r.literal("false")
	}
	return false
}

func (r *jsonReader) literal(want string) bool {
	if len(r.b)-r.pos < len(want) || string(r.b[r.pos:r.pos+len(want)]) != want {
		r.fail("want " + want)
		return false
	}
	r.pos += len(want)
	return true
}

func (r *jsonReader) word(want string) []byte {
	start := r.pos
	r.literal(want)
	return r.b[start:r.pos]
}

// text reads a string, or a number or boolean as its text.
func (r *jsonReader) text() []byte {
	switch r.peek() {
	case '"':
		return r.str()
	case 't':
		return r.word("true")
	case 'f':
		return r.word("false")
	}
	return r.number()
}
