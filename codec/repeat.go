package codec

import (
	"bytes"
	"encoding/binary"
)

// Repeat remembers the header of one request so that the next one, which differs in its opaque alone, needs no parsing:
// two comparisons and a number. Sound for the reasons of Shape. It is small, since a server keeps one for each peer
// that repeats itself: a heartbeating broker.
//
// A Repeat owns its memory and belongs to one goroutine. The zero value recognises nothing.
type Repeat struct {
	header []byte // the header learnt, own copy; empty: none
	opaque Span   // where its opaque stands
	form   SerializeType
}

// Opaque returns the frame's opaque if its header is the one learnt but for that.
func (r *Repeat) Opaque(f Frame) (opaque int32, ok bool) {
	h := f.Header
	if f.Type != r.form || len(r.header) == 0 || len(h) < r.opaque.End || !bytes.Equal(h[:r.opaque.Start], r.header[:r.opaque.Start]) {
		return 0, false
	}
	rest := h[r.opaque.Start:]
	if r.form == SerializeROCKETMQ {
		opaque, rest = int32(binary.BigEndian.Uint32(rest)), rest[4:]
	} else if opaque, rest, ok = shortDigits(rest); !ok {
		return 0, false
	}
	return opaque, bytes.Equal(rest, r.header[r.opaque.End:])
}

// Learn remembers the header that c was parsed from. It reports false, and then recognises nothing, for a header in which
// the opaque can't be told for certain.
func (r *Repeat) Learn(c *Command, header []byte) bool {
	r.header, r.form = r.header[:0], c.Type
	var ok bool
	if c.Type == SerializeROCKETMQ {
		r.opaque, ok = Span{binaryOpaque, binaryFlag}, true // every part of a binary header has its place
	} else if r.opaque, ok = findOpaque(header, c.Opaque); ok {
		ok = r.proven(c, header)
	}
	if ok {
		r.header = append(r.header, header...)
	}
	return ok
}

// proven parses the header with another opaque in its place: it must come back as the opaque, and all else as it was.
func (r *Repeat) proven(c *Command, header []byte) bool {
	text, n := otherOpaque(c.Opaque)
	var p Command
	return p.parseJSON(bytes.Join([][]byte{header[:r.opaque.Start], []byte(text), header[r.opaque.End:]}, nil)) == nil &&
		p.Opaque == n && p.alike(c, noField)
}
