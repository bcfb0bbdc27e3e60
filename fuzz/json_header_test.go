package fuzz

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/waymark-mq/waymark/codec"
)

// FuzzJSONHeader: no header upsets the scanner; what it accepts says the same
// after it was written and read again, and what the standard library makes of it.
func FuzzJSONHeader(f *testing.F) {
	for _, header := range []string{
		`{"code":105,"extFields":{"topic":"TopicA"},"flag":0,"language":"JAVA","opaque":1,"serializeTypeCurrentRPC":"JSON","version":479}`,
		` {"code":"105","opaque":-5.7,"language":9,"extFields":{"a":1,"b":false,"c":null,"d":[1, 2],"e":{"x":1}}} ` + "\n",
		`{'remark':'it\'s \u4e3b\ud83d\ude00\ud83d',"extFields":null,}`,
		`{"x":[[[{"y":[]}]]],"code":1e2}`,
		`{}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(header))
	}
	f.Fuzz(func(t *testing.T, header []byte) {
		c, err := parseHeader(t, codec.SerializeJSON, header)
		if err != nil {
			return
		}
		if !utf8.Valid(header) {
			t.Fatal("accepted a header that is not UTF-8")
		}
		h := headerOf(c)
		if h.Language == codec.LanguageUnknown {
			h.Language = codec.LanguageJava // it is left out, and absent means JAVA
		}
		checkSame(t, sent(t, codec.SerializeJSON, h), h, true)
		checkStandardLibrary(t, header, c)
	})
}

// checkStandardLibrary compares text and whole numbers with what encoding/json
// reads. It gives lone surrogates another replacement, so these are left out.
func checkStandardLibrary(t *testing.T, header []byte, c *codec.Command) {
	var members map[string]json.RawMessage
	if bytes.Contains(bytes.ToLower(header), []byte(`\ud`)) || json.Unmarshal(header, &members) != nil {
		return
	}
	for name, got := range map[string]int32{"code": c.Code, "flag": c.Flag, "opaque": c.Opaque, "version": c.Version} {
		var want int32
		if json.Unmarshal(members[name], &want) == nil && got != want {
			t.Fatalf("%s is %d, encoding/json reads %d", name, got, want)
		}
	}
	var fields map[string]json.RawMessage
	if len(members["extFields"]) > 0 {
		if err := json.Unmarshal(members["extFields"], &fields); err != nil {
			t.Fatalf("extFields: %v", err)
		}
	}
	if c.HasExtFields != (fields != nil) {
		t.Fatalf("has ext fields: %v, encoding/json reads %v", c.HasExtFields, fields)
	}
	for name, raw := range fields {
		var want *string
		if json.Unmarshal(raw, &want) != nil {
			continue // no text
		}
		got, ok := c.Field(name)
		if ok != (want != nil) || ok && string(got) != *want {
			t.Fatalf("field %q is %q, %v, encoding/json reads %s", name, got, ok, raw)
		}
	}
}
