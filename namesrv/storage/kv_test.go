package storage

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// controls are the characters U+0001 to U+001F.
var controls = func() string {
	var b strings.Builder
	for r := rune(1); r < 32; r++ {
		b.WriteRune(r)
	}
	return b.String()
}()

// written is the table that was put into Apache's nameservers, whose files are
// testdata/apache-*: NOVALUE had a key without value, GONE lost its only key.
var written = KV{
	"ORDER_TOPIC_CONFIG": {
		"plain": "broker-a:4;broker-b:4", "ctl": controls, "quote": `a"b\c/d'e`, "html": `<a href="x">&amp;</a>`,
		"latin": "é\x7f\u0080\u0085\u009f\u00a0ÿ", "cjk": "中文", "emoji": "😀", "ls": "\u2028\u2029\ufeff", "empty": "", "space": " x ", "日本": "key too",
	},
	"NUL":     {"z": "a\x00b"},
	"NOVALUE": {},
	"GONE":    {},
	`n"s\`:    {`k"`: "1"},
}

func TestLoadApachesFiles(t *testing.T) {
	for _, version := range []string{"5.5.0", "4.9.7"} {
		t.Run(version, func(t *testing.T) {
			got, loaded, err := LoadKV(KVFile("testdata/apache-" + version + "-kvConfig.json"))
			if err != nil || loaded.Source != FromFile || !reflect.DeepEqual(got, written) {
				t.Errorf("got %q, %+v, %v", got, loaded, err)
			}
		})
	}
}

// TestAppendKV pins our form, which Apache 5.5.0 and 4.9.7 load (tried with both).
func TestAppendKV(t *testing.T) {
	got := string(AppendKV(nil, written))
	if strings.Contains(got, "\n") {
		t.Errorf("more than one line: %q", got)
	}
	want, err := os.ReadFile("testdata/ours-kvConfig.json")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	again, err := ParseKV([]byte(got))
	if err != nil || !reflect.DeepEqual(again, written) {
		t.Errorf("read back %q, %v", again, err)
	}
	for kv, want := range map[*KV]string{{}: `{"configTable":{}}`, {"b": {"y": "<&>", "x": "1"}, "a": nil}: `{"configTable":{"a":{},"b":{"x":"1","y":"<&>"}}}`, new(KV): `{"configTable":{}}`} {
		if got := string(AppendKV([]byte("x"), *kv)); got != "x"+want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestParseKV(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       KV
		fails      bool
	}{
		{"empty", "", KV{}, false},
		{"blank", " \r\n\t", KV{}, false},
		{"no table", "{}", KV{}, false},
		{"other members", `{"x":[1,{"y":2}]}`, KV{}, false},
		{"null table", `{"configTable":null}`, KV{}, false},
		{"null namespace", `{"configTable":{"NS":null}}`, KV{"NS": {}}, false},
		{"null value", `{"configTable":{"NS":{"a":null,"b":"1"}}}`, KV{"NS": {"b": "1"}}, false},
		{"JSON as value", `{"configTable":{"NS":{"a":5,"b":true,"c":-1.50,"d":{"x": 1}}}}`, KV{"NS": {"a": "5", "b": "true", "c": "-1.50", "d": `{"x":1}`}}, false},
		{"spread over lines", "{\n \"configTable\" : {\n \"NS\" : { \"a\" : \"1\" } } }\n", KV{"NS": {"a": "1"}}, false},
		{"the last of two", `{"configTable":{"NS":{"a":"1","a":"2"}}}`, KV{"NS": {"a": "2"}}, false},
		{"escapes", `{"configTable":{"NS":{"\u0061":"\/\ud83d\ude00"}}}`, KV{"NS": {"a": "/😀"}}, false},
		{"other case", `{"CONFIGTABLE":{"NS":{"a":"1"}}}`, KV{}, false},
		{"text as namespace", `{"configTable":{"NS":"a"}}`, nil, true},
		{"array", `[]`, nil, true},
		{"cut", `{"configTable":{"NS":{"a":"1`, nil, true},
		{"more behind", `{"configTable":{}}{`, nil, true},
		{"zeroes", "\x00\x00\x00\x00", nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseKV([]byte(c.text))
			if (err != nil) != c.fails || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// TestCutAtEveryByte: a file of ours that lost its end is never taken for a
// whole one, and its .bak is loaded.
func TestCutAtEveryByte(t *testing.T) {
	f := KVFile(filepath.Join(t.TempDir(), "kv.json"))
	if err := f.Write(AppendKV(nil, KV{"NS": {"old": "1"}})); err != nil {
		t.Fatal(err)
	}
	whole := AppendKV(nil, KV{"NS": {"new": "2"}})
	if err := f.Write(whole); err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		mustWrite(t, f.Path, string(whole[:n]))
		kv, loaded, err := LoadKV(f)
		if err != nil || loaded.Source != FromBackup || loaded.Path != f.Path+".bak" || kv["NS"]["old"] != "1" {
			t.Fatalf("%d bytes: %q, %+v, %v", n, kv, loaded, err)
		}
	}
}
