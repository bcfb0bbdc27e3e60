package codec

import (
	"maps"
	"strings"
	"testing"
)

// parseText parses a header alone.
func parseText(t testing.TB, typ SerializeType, header string) *Command {
	t.Helper()
	var c Command
	if err := c.Parse(Frame{Type: typ, Header: []byte(header)}); err != nil {
		t.Fatalf("%v: %q", err, header)
	}
	return &c
}

func fieldsOf(c *Command) map[string]string {
	if !c.HasExtFields {
		return nil
	}
	m := map[string]string{}
	c.Each(func(name, value []byte) { m[string(name)] = string(value) })
	return m
}

func TestFieldNumber(t *testing.T) {
	for _, tc := range []struct {
		name, value string
		want        int64
		ok          bool
	}{
		{"zero", "0", 0, true},
		{"plain", "1700000000000", 1700000000000, true},
		{"negative", "-7", -7, true},
		{"plus", "+0", 0, true},
		{"plus number", "+12", 12, true},
		{"leading zeros", "007", 7, true},
		{"greatest", "9223372036854775807", 9223372036854775807, true},
		{"least", "-9223372036854775808", -9223372036854775808, true},
		{"one too great", "9223372036854775808", 0, false},
		{"one too small", "-9223372036854775809", 0, false},
		{"far too great", "99999999999999999999999", 0, false},
		{"leading blank", " 0", 0, false},
		{"trailing blank", "0 ", 0, false},
		{"empty", "", 0, false},
		{"sign alone", "-", 0, false},
		{"two signs", "+-1", 0, false},
		{"fraction", "1.0", 0, false},
		{"hexadecimal", "0x10", 0, false},
		{"underscore", "1_000", 0, false},
		{"word", "abc", 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := parseText(t, SerializeJSON, `{"extFields":{"n":"`+tc.value+`"}}`)
			if got, ok := c.Int64("n"); got != tc.want || ok != tc.ok {
				t.Errorf("Int64 = %d, %v, want %d, %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestFieldInt32(t *testing.T) {
	c := parseText(t, SerializeJSON, `{"extFields":{"max":"2147483647","min":"-2147483648","over":"2147483648","under":"-2147483649","bare":12,"bad":"x"}}`)
	for _, tc := range []struct {
		name string
		want int32
		ok   bool
	}{
		{"max", 2147483647, true}, {"min", -2147483648, true}, {"over", 0, false}, {"under", 0, false},
		{"bare", 12, true}, {"bad", 0, false}, {"missing", 0, false},
	} {
		if got, ok := c.Int32(tc.name); got != tc.want || ok != tc.ok {
			t.Errorf("Int32(%s) = %d, %v, want %d, %v", tc.name, got, ok, tc.want, tc.ok)
		}
	}
}

func TestFieldBool(t *testing.T) {
	c := parseText(t, SerializeJSON, `{"extFields":{"true":"true","upper":"TRUE","mixed":"tRuE","bare":true,"one":"1","yes":"yes","empty":"","blank":" true","false":"false","barefalse":false,"null":null}}`)
	for _, tc := range []struct {
		name  string
		v, ok bool
	}{
		{"true", true, true}, {"upper", true, true}, {"mixed", true, true}, {"bare", true, true},
		{"one", false, true}, {"yes", false, true}, {"empty", false, true}, {"blank", false, true},
		{"false", false, true}, {"barefalse", false, true}, {"null", false, false}, {"missing", false, false},
	} {
		if v, ok := c.Bool(tc.name); v != tc.v || ok != tc.ok {
			t.Errorf("Bool(%s) = %v, %v, want %v, %v", tc.name, v, ok, tc.v, tc.ok)
		}
	}
}

func TestFieldRepeated(t *testing.T) {
	c := parseText(t, SerializeJSON, `{"extFields":{"a":"1","b":"2","a":"3","c":"4","c":null,"d":null,"d":"5"}}`)
	want := map[string]string{"a": "3", "b": "2", "d": "5"}
	if got := fieldsOf(c); !maps.Equal(got, want) {
		t.Errorf("Each gave %v, want %v", got, want)
	}
	for name, value := range want {
		if v, ok := c.Field(name); !ok || string(v) != value {
			t.Errorf("Field(%s) = %q, %v", name, v, ok)
		}
	}
	if v, ok := c.Field("c"); ok || v != nil {
		t.Errorf("null after a value gave %q", v)
	}
	calls := 0
	c.Each(func(_, _ []byte) { calls++ })
	if calls != len(want) {
		t.Errorf("Each called %d times, want %d", calls, len(want))
	}
}

func TestFlagBits(t *testing.T) {
	for flag, want := range map[string][2]bool{"0": {}, "1": {true, false}, "2": {false, true}, "3": {true, true}, "4": {}, "8": {}, "-1": {true, true}} {
		c := parseText(t, SerializeJSON, `{"flag":`+flag+`}`)
		if c.IsResponse() != want[0] || c.IsOneway() != want[1] {
			t.Errorf("flag %s: response %v, oneway %v", flag, c.IsResponse(), c.IsOneway())
		}
	}
}

// A command that is used again shows nothing of its last request.
func TestCommandReused(t *testing.T) {
	c := parseText(t, SerializeJSON, `{"code":105,"extFields":{"topic":"a\u0062"},"flag":2,"language":"GO","opaque":9,"remark":"r","version":317}`)
	c.Body = []byte("x")
	if err := c.Parse(Frame{Header: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	if c.Code != 0 || c.Flag != 0 || c.Opaque != 0 || c.Version != 0 || c.Language != LanguageJava ||
		c.HasRemark || c.Remark != nil || c.HasExtFields || c.Body != nil {
		t.Errorf("left over: %+v", c)
	}
	if _, ok := c.Field("topic"); ok {
		t.Error("an ext field is left over")
	}
}

func TestCommandBody(t *testing.T) {
	var c Command
	if err := c.Parse(Frame{Header: []byte(`{}`), Body: []byte{}}); err != nil || c.Body != nil {
		t.Errorf("empty body: %v, %v", c.Body, err)
	}
	if err := c.Parse(Frame{Header: []byte(`{}`), Body: []byte("b")}); err != nil || string(c.Body) != "b" {
		t.Errorf("body: %q, %v", c.Body, err)
	}
}

// A hostile header must not make its connection's command keep megabytes.
func TestScratchGivenBack(t *testing.T) {
	c := parseText(t, SerializeJSON, `{"extFields":{"x":"`+strings.Repeat(`\n`, 1<<20)+`"}}`)
	if err := c.Parse(Frame{Header: []byte(`{}`)}); err != nil {
		t.Fatal(err)
	}
	if cap(c.scratch) > maxKeptScratchBytes {
		t.Errorf("%d bytes of scratch kept", cap(c.scratch))
	}
}
