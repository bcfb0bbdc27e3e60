package codec

import "bytes"

// Command is one request or response, seen in the bytes of its frame. The
// package comment says what may be done with such a view. The zero value is
// ready for Parse.
type Command struct {
	Type     SerializeType
	Code     int32
	Flag     int32
	Opaque   int32
	Version  int32
	Language Language

	Remark       []byte
	HasRemark    bool // false: absent, null, or empty in the binary form
	HasExtFields bool // false: absent or null, in the binary form also empty

	Body []byte // nil when empty

	fields  []extField
	scratch []byte // unescaped text

	// The shape by which it was last parsed, and which of its headers: another request of the
	// same differs in one field, opaque and body alone.
	shape  *Shape
	learnt uint32
}

// extField is one ext field; a nil value is null.
type extField struct{ name, value []byte }

// Parse reads the header of f. What c showed before is gone. After an error
// the connection is to be closed and c holds nothing of use.
//
// Source: Apache RocketMQ 5.5.0; testdata/headers.jsonl.
func (c *Command) Parse(f Frame) error {
	scratch := c.scratch[:0]
	if cap(scratch) > maxKeptScratchBytes {
		scratch = nil
	}
	*c = Command{Type: f.Type, fields: c.fields[:0], scratch: scratch}
	if len(f.Body) > 0 {
		c.Body = f.Body
	}
	if f.Type == SerializeROCKETMQ {
		return c.parseRocketMQ(f.Header)
	}
	return c.parseJSON(f.Header)
}

// IsOneway tells that no frame may be written back.
func (c *Command) IsOneway() bool { return c.Flag&FlagOneway != 0 }

// IsResponse tells that the frame answers a request of ours.
func (c *Command) IsResponse() bool { return c.Flag&FlagResponse != 0 }

// Field returns the ext field of that name. A null or missing one is not ok;
// of several the last counts.
func (c *Command) Field(name string) (value []byte, ok bool) {
	for i := len(c.fields) - 1; i >= 0; i-- {
		if f := &c.fields[i]; string(f.name) == name {
			return f.value, f.value != nil
		}
	}
	return nil, false
}

// Int64 returns an ext field as a decimal number with an optional sign. A
// malformed number is like a missing one.
func (c *Command) Int64(name string) (int64, bool) {
	v, ok := c.Field(name)
	if !ok {
		return 0, false
	}
	return parseFieldInt64(v)
}

// Int32 is Int64 for numbers of 32 bits; a greater one is malformed.
func (c *Command) Int32(name string) (int32, bool) {
	n, ok := c.Int64(name)
	if int64(int32(n)) != n {
		return 0, false
	}
	return int32(n), ok
}

// Bool returns whether an ext field says "true", in any letter case. All other
// text is false. A null or missing field is not ok.
func (c *Command) Bool(name string) (v, ok bool) {
	text, ok := c.Field(name)
	return ok && bytes.EqualFold(text, []byte("true")), ok
}

// Each calls fn for every ext field that Field would find, in the order sent.
func (c *Command) Each(fn func(name, value []byte)) {
	for i := range c.fields {
		if f := &c.fields[i]; f.value != nil && !c.repeated(i) {
			fn(f.name, f.value)
		}
	}
}

// repeated tells whether a later field has the name of field i.
func (c *Command) repeated(i int) bool {
	name := c.fields[i].name
	for j := i + 1; j < len(c.fields); j++ {
		if bytes.Equal(name, c.fields[j].name) {
			return true
		}
	}
	return false
}

// addField appends an ext field; a nil value is null.
func (c *Command) addField(name, value []byte) error {
	if len(c.fields) >= MaxExtFields {
		return ErrHeaderFields
	}
	c.fields = append(c.fields, extField{name, value})
	return nil
}

// parseFieldInt64 reads [+-]digits; blanks, points and anything out of range are not ok.
func parseFieldInt64(v []byte) (int64, bool) {
	negative := false
	if len(v) > 0 && (v[0] == '+' || v[0] == '-') {
		negative = v[0] == '-'
		v = v[1:]
	}
	if len(v) == 0 {
		return 0, false
	}
	limit := uint64(1<<63 - 1)
	if negative {
		limit = 1 << 63
	}
	var n uint64
	for _, ch := range v {
		d := uint64(ch - '0')
		if d > 9 || n > (limit-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	if negative {
		return -int64(n), true
	}
	return int64(n), true
}
