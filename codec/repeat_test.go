package codec

import (
	"strings"
	"testing"
)

// repeatOf parses a header and has it learnt.
func repeatOf(t *testing.T, f Frame) (*Repeat, bool) {
	t.Helper()
	var c Command
	if err := c.Parse(f); err != nil {
		t.Fatal(err)
	}
	r := new(Repeat)
	ok := r.Learn(&c, f.Header)
	for i := range f.Header {
		f.Header[i] = 0xDB // it must own what it keeps
	}
	return r, ok
}

func TestRepeat(t *testing.T) {
	r, ok := repeatOf(t, Frame{Header: []byte(javaBeat)})
	if !ok {
		t.Fatal("not learnt")
	}
	for _, tt := range []struct {
		name, from, to string
		opaque         int32 // -1: not recognised
	}{
		{"same", "", "", 5},
		{"another opaque", ":5,", ":123456789,", 123456789},
		{"opaque 0", ":5,", ":0,", 0},
		{"another broker", "10.0.0.1", "10.0.0.2", -1},
		{"another cluster", `"c"`, `"d"`, -1},
		{"two-way", `"flag":2`, `"flag":0`, -1},
		{"negative opaque", ":5,", ":-5,", -1},
		{"leading zero", ":5,", ":05,", -1},
		{"ten digits", ":5,", ":1234567890,", -1},
		{"no opaque", ":5,", ":,", -1},
		{"bytes behind", `513}`, "513}x", -1},
		{"cut", `513}`, "51", -1},
		{"empty", javaBeat, "", -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := Frame{Header: []byte(strings.Replace(javaBeat, tt.from, tt.to, 1))}
			if opaque, ok := r.Opaque(f); ok != (tt.opaque >= 0) || (ok && opaque != tt.opaque) {
				t.Errorf("%t, opaque %d", ok, opaque)
			}
			if f.Type = SerializeROCKETMQ; len(f.Header) > 0 {
				if _, ok := r.Opaque(f); ok {
					t.Error("recognised in a binary frame")
				}
			}
		})
	}
	if _, ok := new(Repeat).Opaque(Frame{}); ok {
		t.Error("the zero value recognises something")
	}
}

func TestRepeatIsNotLearnt(t *testing.T) {
	for _, header := range []string{
		`{"opaque":17,"code":904,"extFields":{"brokerAddr":"a"},"opaque":17}`, // the first is not the one that counts
		`{"code":904,"extFields":{"opaque":17,"brokerAddr":"a"},"opaque":17}`,
		`{"code":904,"extFields":{"brokerAddr":"a"},"opaque":-17}`,
		`{"code":904,"extFields":{"brokerAddr":"a"}}`,
	} {
		r, ok := repeatOf(t, Frame{Header: []byte(header)})
		if _, known := r.Opaque(Frame{Header: []byte(header)}); ok || known {
			t.Errorf("learnt: %s", header)
		}
	}
}

func TestBinaryRepeat(t *testing.T) {
	beat := func(addr string, opaque int32) Frame {
		return Frame{Type: SerializeROCKETMQ, Header: binaryHeader(&Header{
			Code: 904, Opaque: opaque, HasRemark: true, Remark: "r", ExtFields: []ExtField{{"brokerAddr", addr}, {"clusterName", "c"}},
		})}
	}
	r, ok := repeatOf(t, beat("a:1", 1))
	if opaque, again := r.Opaque(beat("a:1", -7)); !ok || !again || opaque != -7 {
		t.Error("not learnt or not recognised", ok, again, opaque)
	}
	for _, f := range []Frame{beat("b:1", 1), beat("a:12", 1), {Type: SerializeROCKETMQ, Header: beat("a:1", 1).Header[:7]}} {
		if _, ok := r.Opaque(f); ok {
			t.Errorf("recognised: %q", f.Header)
		}
	}
}
