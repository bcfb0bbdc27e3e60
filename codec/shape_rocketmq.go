package codec

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// Where a binary header's opaque stands, and its ext fields begin; the package comment draws it.
const (
	binaryOpaque = 5
	binaryFlag   = 9
	binaryExtLen = 17
	binaryExt    = 21
)

// binaryShape is what a Shape knows of a binary header without remark, whose ext fields end where it ends.
type binaryShape struct {
	valueAt int // where the length of the changing field's value stands
	tail    int // bytes behind the value
}

// parseBinary is Parse for a binary header.
func (s *Shape) parseBinary(h []byte) (value []byte, opaque int32, ok bool) {
	known := s.header
	if len(h) < binaryExt || !bytes.Equal(h[:binaryOpaque], known[:binaryOpaque]) || !bytes.Equal(h[binaryFlag:binaryExtLen], known[binaryFlag:binaryExtLen]) {
		return nil, 0, false
	}
	opaque = int32(binary.BigEndian.Uint32(h[binaryOpaque:]))
	at := s.binary.valueAt
	if len(h) < at || !bytes.Equal(h[binaryExt:at], known[binaryExt:at]) || int(binary.BigEndian.Uint32(h[binaryExtLen:])) != len(h)-binaryExt {
		return nil, 0, false
	}
	value, rest, ok := cutLength32(h[at:])
	if !ok || len(value) == 0 || !bytes.Equal(rest, known[len(known)-s.binary.tail:]) || !utf8.Valid(value) {
		return nil, 0, false
	}
	return value, opaque, true
}

// learnBinary is Learn for a binary header. Every part of one has its place, so nothing needs to be proven.
func (s *Shape) learnBinary(c *Command, own []byte, fieldName string) bool {
	if len(own) < binaryExt || c.HasRemark || int(binary.BigEndian.Uint32(own[binaryExtLen:])) != len(own)-binaryExt {
		return false
	}
	if v, ok := c.Field(fieldName); !ok || !utf8.Valid(v) {
		return false
	}
	s.field = c.lastField(fieldName)
	s.binary = findBinaryField(own, s.field)
	return s.command.parseRocketMQ(own) == nil && len(s.command.scratch) == 0
}

// findBinaryField returns where the value of a field stands, by its index among those with a name.
func findBinaryField(header []byte, index int) binaryShape {
	rest := header[binaryExt:]
	for {
		nameLen := int(binary.BigEndian.Uint16(rest))
		at := len(header) - len(rest) + 2 + nameLen
		_, rest, _ = cutLength32(header[at:]) // parsed before, so it is whole
		if nameLen == 0 {
			continue
		}
		if index--; index < 0 {
			return binaryShape{valueAt: at, tail: len(rest)}
		}
	}
}
