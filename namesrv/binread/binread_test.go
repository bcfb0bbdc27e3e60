package binread

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

func TestValues(t *testing.T) {
	b := []byte{7}
	b = binary.LittleEndian.AppendUint64(b, math.MaxUint64)
	b = binary.AppendUvarint(b, math.MaxUint64)
	b = binary.AppendVarint(b, math.MinInt64)
	b = append(binary.AppendUvarint(b, 3), "abc"...)
	b = append(binary.AppendUvarint(b, 2), 1, 2, 3, 4)
	r := New(b)
	if r.Byte() != 7 || r.Fixed() != math.MaxUint64 || r.Uvarint() != math.MaxUint64 || r.Varint() != math.MinInt64 || r.Text(3) != "abc" || r.Count(2) != 2 {
		t.Error("a value is another")
	}
	if r.Err() != nil || r.Len() != 4 {
		t.Errorf("%v, %d bytes left", r.Err(), r.Len())
	}
	for cut := range len(b) - 4 {
		r := New(b[:cut])
		r.Byte()
		r.Fixed()
		r.Uvarint()
		r.Varint()
		r.Text(3)
		r.Count(2)
		if r.Err() == nil {
			t.Errorf("cut after %d bytes: no error", cut)
		}
	}
}

// The first error stays; after it all is zero.
func TestErrors(t *testing.T) {
	for name, c := range map[string]struct {
		bytes []byte
		read  func(r *Reader)
		want  error
	}{
		"a text that is too long":      {[]byte{5, 'a', 'b', 'c', 'd', 'e'}, func(r *Reader) { r.Text(4) }, ErrTooLong},
		"a text that promises more":    {[]byte{5, 'a'}, func(r *Reader) { r.Text(10) }, ErrShort},
		"a list without room":          {[]byte{3, 0, 0, 0, 0, 0}, func(r *Reader) { r.Count(2) }, ErrTooLong},
		"a varint of eleven bytes":     {[]byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}, func(r *Reader) { r.Uvarint() }, ErrShort},
		"what the caller thinks of it": {[]byte{1}, func(r *Reader) { r.Fail(ErrNumber); r.Fail(ErrShort) }, ErrNumber},
	} {
		r := New(c.bytes)
		c.read(&r)
		if !errors.Is(r.Err(), c.want) || r.Len() != 0 || r.Byte() != 0 || r.Uvarint() != 0 || r.Text(9) != "" || !errors.Is(r.Err(), c.want) {
			t.Errorf("%s: %v", name, r.Err())
		}
	}
}
