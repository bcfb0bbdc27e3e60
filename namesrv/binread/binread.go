// Package binread takes values off the front of bytes that nobody vouches for: of a file, or of a message.
package binread

import (
	"encoding/binary"
	"errors"
)

// What can be wrong with bytes of any kind.
var (
	ErrShort   = errors.New("it ends early")
	ErrTooLong = errors.New("a text or list in it is too long")
	ErrNumber  = errors.New("a number in it is out of range")
)

// Reader reads values from its front. Its first error stays, and all that is read then is zero. Texts are copies.
type Reader struct {
	rest []byte
	err  error
}

// New returns a Reader of b.
func New(b []byte) Reader { return Reader{rest: b} }

// Err is what was wrong; nil so far.
func (r *Reader) Err() error { return r.err }

// Len is how many bytes are left.
func (r *Reader) Len() int { return len(r.rest) }

// Fail ends the reading.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.rest = nil
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if len(r.rest) == 0 {
		r.Fail(ErrShort)
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// Fixed reads 8 bytes, little endian.
func (r *Reader) Fixed() uint64 {
	if len(r.rest) < 8 {
		r.Fail(ErrShort)
		return 0
	}
	n := binary.LittleEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return n
}

// Uvarint reads what binary.AppendUvarint wrote.
func (r *Reader) Uvarint() uint64 {
	n, size := binary.Uvarint(r.rest)
	r.skip(size)
	return n
}

// Varint reads what binary.AppendVarint wrote.
func (r *Reader) Varint() int64 {
	n, size := binary.Varint(r.rest)
	r.skip(size)
	return n
}

// skip passes over a varint; a size of 0 or less is that of none, which reads as 0.
func (r *Reader) skip(size int) {
	if size <= 0 {
		r.Fail(ErrShort)
		return
	}
	r.rest = r.rest[size:]
}

// Text reads a length, at most most, and so many bytes.
func (r *Reader) Text(most uint64) string {
	n := r.Uvarint()
	if n > most {
		r.Fail(ErrTooLong)
		return ""
	}
	return r.Bytes(n)
}

// Bytes reads n bytes.
func (r *Reader) Bytes(n uint64) string {
	if n > uint64(len(r.rest)) {
		r.Fail(ErrShort)
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

// Count reads how many elements follow, each of at least so many bytes: never more than there is room for.
func (r *Reader) Count(least int) int {
	n := r.Uvarint()
	if n > uint64(len(r.rest)/least) {
		r.Fail(ErrTooLong)
		return 0
	}
	return int(n)
}
