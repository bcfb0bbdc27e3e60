package fuzz

import (
	"bytes"
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

// headerOf is the header that says what c says.
func headerOf(c *codec.Command) codec.Header {
	h := codec.Header{
		Code: c.Code, Flag: c.Flag, Opaque: c.Opaque, Version: c.Version, Language: c.Language,
		Remark: string(c.Remark), HasRemark: c.HasRemark,
	}
	if c.HasExtFields {
		h.ExtFields = []codec.ExtField{}
		c.Each(func(name, value []byte) {
			h.ExtFields = append(h.ExtFields, codec.ExtField{Name: string(name), Value: string(value)})
		})
	}
	return h
}

// asBinary is what is left of h after it was sent in the binary form, which
// has no empty text and no empty ext fields.
func asBinary(h codec.Header) codec.Header {
	h.HasRemark = h.HasRemark && h.Remark != ""
	var fields []codec.ExtField
	for _, f := range h.ExtFields {
		if f.Name != "" && f.Value != "" {
			fields = append(fields, f)
		}
	}
	h.ExtFields = fields
	return h
}

// sent encodes h, decodes it and returns what arrived.
func sent(t *testing.T, typ codec.SerializeType, h codec.Header) codec.Header {
	t.Helper()
	f, err := codec.ParseFrame(codec.AppendFrame(nil, typ, &h, nil))
	if err != nil {
		t.Fatalf("our own frame: %v", err)
	}
	var c codec.Command
	if err := c.Parse(f); err != nil {
		t.Fatalf("our own header: %v: %q", err, f.Header)
	}
	return headerOf(&c)
}

// checkSame compares two headers; a missing field list and an empty one differ
// only if exact.
func checkSame(t *testing.T, got, want codec.Header, exact bool) {
	t.Helper()
	same := got.Code == want.Code && got.Flag == want.Flag && got.Opaque == want.Opaque && got.Version == want.Version &&
		got.Language == want.Language && got.HasRemark == want.HasRemark && (!got.HasRemark || got.Remark == want.Remark) &&
		len(got.ExtFields) == len(want.ExtFields) && (!exact || (got.ExtFields == nil) == (want.ExtFields == nil))
	for i := 0; same && i < len(got.ExtFields); i++ {
		same = got.ExtFields[i] == want.ExtFields[i]
	}
	if !same {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
}

// parseHeader parses a header alone and checks that it was not written to.
func parseHeader(t *testing.T, typ codec.SerializeType, header []byte) (*codec.Command, error) {
	t.Helper()
	before := bytes.Clone(header)
	c := new(codec.Command)
	err := c.Parse(codec.Frame{Type: typ, Header: header})
	if !bytes.Equal(header, before) {
		t.Fatal("Parse has written to the header")
	}
	return c, err
}
