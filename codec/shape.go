package codec

import "bytes"

// Shape remembers the header of one request so that the next one, which mostly
// differs in its opaque and in one ext field alone, needs no parsing: three
// comparisons, the end of a text, a number.
//
// For JSON it is sound because both are whole tokens, a text without anything to unescape and a
// number that can't leave int32: with other content of the same kind in their places the
// header means the same but for those two values. Learn proves with a header of its
// own making that they are the ones that count.
//
// A Shape owns its memory and belongs to one goroutine. The zero value recognises
// nothing.
type Shape struct {
	header     []byte // the header learnt, own copy
	head       []byte // of header: before, between and after the two places
	middle     []byte
	tail       []byte
	fieldFirst bool // the field stands before the opaque
	binary     binaryShape

	command Command // what it means; its text aliases header
	field   int     // index in command.fields
	learnt  uint32  // times that Learn was called: tells commands of an older header
}

// Parse does what Command.Parse does if the frame's header has the shape; if not it
// changes nothing and reports false.
func (s *Shape) Parse(c *Command, f Frame) bool {
	if f.Type != s.command.Type || len(s.header) == 0 {
		return false
	}
	var value []byte
	var opaque int32
	var ok bool
	if f.Type == SerializeROCKETMQ {
		value, opaque, ok = s.parseBinary(f.Header)
	} else {
		value, opaque, ok = s.parseText(f.Header)
	}
	if !ok {
		return false
	}
	if c.shape != s || c.learnt != s.learnt {
		scratch, fields := c.scratch[:0], append(c.fields[:0], s.command.fields...)
		*c = s.command
		c.scratch, c.fields = scratch, fields
		c.shape, c.learnt = s, s.learnt
	}
	c.fields[s.field].value = value
	c.Opaque = opaque
	if c.Body = nil; len(f.Body) > 0 {
		c.Body = f.Body
	}
	return true
}

// parseText is Parse for a JSON header.
func (s *Shape) parseText(h []byte) (value []byte, opaque int32, ok bool) {
	if !bytes.HasPrefix(h, s.head) {
		return nil, 0, false
	}
	value, rest, opaque, ok := s.places(h[len(s.head):])
	return value, opaque, ok && bytes.Equal(rest, s.tail)
}

// places reads field and opaque, in the order of the shape, from what follows its head.
func (s *Shape) places(b []byte) (value, rest []byte, opaque int32, ok bool) {
	if s.fieldFirst {
		if value, b, ok = plainText(b); !ok || !bytes.HasPrefix(b, s.middle) {
			return nil, nil, 0, false
		}
		opaque, rest, ok = shortDigits(b[len(s.middle):])
		return value, rest, opaque, ok
	}
	if opaque, b, ok = shortDigits(b); !ok || !bytes.HasPrefix(b, s.middle) {
		return nil, nil, 0, false
	}
	value, rest, ok = plainText(b[len(s.middle):])
	return value, rest, opaque, ok
}

// plainText reads a text up to its quote; not ok if it holds an escape or anything but ASCII.
func plainText(b []byte) (text, rest []byte, ok bool) {
	n := plainEnd(b, 0, '"')
	if n >= len(b) || b[n] != '"' {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// shortDigits reads one to nine digits without a leading zero.
func shortDigits(b []byte) (n int32, rest []byte, ok bool) {
	const mostDigits = 9
	i := 0
	for i < len(b) && i < mostDigits && isDigit(b[i]) {
		n = n*10 + int32(b[i]-'0')
		i++
	}
	if i == 0 || (b[0] == '0' && i > 1) || (i < len(b) && isDigit(b[i])) {
		return 0, nil, false
	}
	return n, b[i:], true
}

// Learn remembers the header that c was parsed from, with the ext field that changes
// from request to request. It reports false, and then recognises nothing, for a header in which the places can't be told for certain.
func (s *Shape) Learn(c *Command, header []byte, fieldName string) bool {
	own := append(s.header[:0], header...)
	*s = Shape{command: Command{Type: c.Type, fields: s.command.fields[:0]}, learnt: s.learnt + 1}
	learn := s.learnText
	if c.Type == SerializeROCKETMQ {
		learn = s.learnBinary
	}
	if len(header) > maxKeptScratchBytes || !learn(c, own, fieldName) {
		return false
	}
	s.header = own
	return true
}

// learnText is Learn for a JSON header.
func (s *Shape) learnText(c *Command, own []byte, fieldName string) bool {
	opaque, ok := findOpaque(own, c.Opaque)
	return ok && s.findPlace(c, own, opaque, fieldName) && s.command.parseJSON(own) == nil
}

// findPlace cuts the header at the field and the opaque. The field's text may stand in several
// places; the proof tells which one counts.
func (s *Shape) findPlace(c *Command, header []byte, opaque Span, fieldName string) bool {
	value, ok := c.Field(fieldName)
	if !ok {
		return false
	}
	s.field = c.lastField(fieldName)
	const mostPlaces = 4
	from := 0
	for range mostPlaces {
		place, ok := findText(header, value, from)
		if !ok {
			return false
		}
		if s.split(header, place, opaque); s.proven(c, fieldName) {
			return true
		}
		from = place.End
	}
	return false
}

// split cuts the header at the two places.
func (s *Shape) split(header []byte, field, opaque Span) {
	first, second := field, opaque
	if s.fieldFirst = field.Start < opaque.Start; !s.fieldFirst {
		first, second = opaque, field
	}
	s.head, s.middle, s.tail = header[:first.Start], header[first.End:second.Start], header[second.End:]
}

// lastField returns the index of the field that Field finds.
func (c *Command) lastField(name string) int {
	i := len(c.fields) - 1
	for string(c.fields[i].name) != name {
		i--
	}
	return i
}

// findText returns where the text next stands between double quotes.
func findText(header, text []byte, from int) (Span, bool) {
	quoted := append(append([]byte{'"'}, text...), '"')
	i := bytes.Index(header[from:], quoted)
	if i < 0 {
		return Span{}, false
	}
	start := from + i + 1
	_, rest, plain := plainText(header[start:])
	return Span{start, start + len(text)}, plain && len(header)-len(rest) == start+len(text)
}

// findOpaque returns where the number stands in the header.
func findOpaque(header []byte, opaque int32) (Span, bool) {
	const member = `"opaque":`
	i := bytes.Index(header, []byte(member))
	if i < 0 {
		return Span{}, false
	}
	start := i + len(member)
	n, rest, ok := shortDigits(header[start:])
	return Span{start, len(header) - len(rest)}, ok && n == opaque
}

// proven parses a header of the shape with other content in both places: a text and a number
// that aren't there otherwise must come back as field and opaque, and all else as it was.
func (s *Shape) proven(c *Command, fieldName string) bool {
	const text = "a text that no header holds by chance"
	opaque, n := otherOpaque(c.Opaque)
	first, second := []byte(text), []byte(opaque)
	if !s.fieldFirst {
		first, second = second, first
	}
	var p Command
	if p.parseJSON(bytes.Join([][]byte{s.head, first, s.middle, second, s.tail}, nil)) != nil {
		return false
	}
	v, _ := p.Field(fieldName)
	return string(v) == text && p.Opaque == n && p.alike(c, s.field)
}

// otherOpaque is a number that a header doesn't have by chance, and isn't n.
func otherOpaque(n int32) (text string, other int32) {
	if n == 918273645 {
		return "192837465", 192837465
	}
	return "918273645", 918273645
}

// noField is an index that no field has.
const noField = -1

// alike reports whether two parsed headers say the same but for the opaque and one field's value.
func (c *Command) alike(d *Command, except int) bool {
	if len(c.fields) != len(d.fields) {
		return false
	}
	for i := range c.fields {
		same := bytes.Equal(c.fields[i].value, d.fields[i].value) && (c.fields[i].value == nil) == (d.fields[i].value == nil)
		if !bytes.Equal(c.fields[i].name, d.fields[i].name) || (i != except && !same) {
			return false
		}
	}
	return c.Code == d.Code && c.Flag == d.Flag && c.Version == d.Version && c.Language == d.Language &&
		c.HasRemark == d.HasRemark && bytes.Equal(c.Remark, d.Remark) && c.HasExtFields == d.HasExtFields
}
