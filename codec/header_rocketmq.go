package codec

import (
	"encoding/binary"
	"unicode/utf8"
)

// rocketMQFixedBytes is what a binary header has without remark and ext fields.
const rocketMQFixedBytes = 21

// parseRocketMQ reads a binary header (drawn in the package comment). A length
// of zero means null, so an empty value reads as a missing field. Bytes left
// over at the end are skipped; an entry that runs past extLen is an error.
func (c *Command) parseRocketMQ(h []byte) error {
	if len(h) < rocketMQFixedBytes {
		return ErrHeaderLength
	}
	c.Code = int32(int16(binary.BigEndian.Uint16(h)))
	c.Language = languageOfNumber(int32(h[2]))
	c.Version = int32(int16(binary.BigEndian.Uint16(h[3:])))
	c.Opaque = int32(binary.BigEndian.Uint32(h[5:]))
	c.Flag = int32(binary.BigEndian.Uint32(h[9:]))

	remark, rest, ok := cutLength32(h[13:])
	if !ok || len(rest) < 4 {
		return ErrHeaderLength
	}
	if len(remark) > 0 {
		c.Remark, c.HasRemark = c.replaceInvalid(remark), true
	}
	if int32(binary.BigEndian.Uint32(rest)) <= 0 {
		return nil
	}
	ext, _, ok := cutLength32(rest)
	if !ok {
		return ErrHeaderLength
	}
	c.HasExtFields = true
	return c.parseRocketMQFields(ext)
}

func (c *Command) parseRocketMQFields(ext []byte) error {
	for len(ext) > 0 {
		if len(ext) < 2 {
			return ErrHeaderLength
		}
		nameLen := int(int16(binary.BigEndian.Uint16(ext)))
		ext = ext[2:]
		if nameLen < 0 || nameLen > len(ext) {
			return ErrHeaderLength
		}
		name := ext[:nameLen]
		value, rest, ok := cutLength32(ext[nameLen:])
		if !ok {
			return ErrHeaderLength
		}
		ext = rest
		if nameLen == 0 {
			continue // the name is null: nothing can ask for it
		}
		if len(value) == 0 {
			value = nil
		} else {
			value = c.replaceInvalid(value)
		}
		if err := c.addField(c.replaceInvalid(name), value); err != nil {
			return err
		}
	}
	return nil
}

// cutLength32 cuts off the bytes that a 32-bit length announces.
func cutLength32(b []byte) (value, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := int32(binary.BigEndian.Uint32(b))
	b = b[4:]
	if n < 0 || int64(n) > int64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// replaceInvalid returns text with U+FFFD in place of what is not UTF-8. It
// copies to scratch only if there is any.
func (c *Command) replaceInvalid(text []byte) []byte {
	if utf8.Valid(text) {
		return text
	}
	start := len(c.scratch)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			n = malformedLength(text)
		}
		c.scratch = utf8.AppendRune(c.scratch, r)
		text = text[n:]
	}
	return c.scratch[start:len(c.scratch):len(c.scratch)]
}

// malformedLength returns how many bytes one U+FFFD stands for: the longest
// beginning of a character, as Java's decoder counts. An encoded surrogate
// counts as one.
func malformedLength(b []byte) int {
	low, high, more := byte(0x80), byte(0xBF), 0
	switch lead := b[0]; {
	case lead >= 0xC2 && lead <= 0xDF:
		more = 1
	case lead >= 0xE0 && lead <= 0xEF:
		more = 2
		if lead == 0xE0 {
			low = 0xA0
		}
	case lead >= 0xF0 && lead <= 0xF4:
		more = 3
		if lead == 0xF0 {
			low = 0x90
		} else if lead == 0xF4 {
			high = 0x8F
		}
	}
	n := 1
	for n <= more && n < len(b) && b[n] >= low && b[n] <= high {
		n++
		low, high = 0x80, 0xBF
	}
	return n
}
