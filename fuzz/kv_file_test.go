package fuzz

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/storage"
)

// FuzzKVFile: what is read from a KV file is read again from what it is saved
// as, which is JSON for everybody.
func FuzzKVFile(f *testing.F) {
	f.Add([]byte(`{"configTable":{"NS":{"a":"1","b":null,"c":5}}}`))
	f.Add([]byte(`{"configTable":{"e":{},"n\"s\\":{"k\"":"a\"b\\c\/d'e","":"<&>\u2028\u007f\u0000","d":[1, {"x":2.50}],"h":"\ud83d"}}}`))
	f.Add(storage.AppendKV(nil, storage.KV{
		"ORDER_TOPIC_CONFIG": {"plain": "broker-a:4;broker-b:4", "ctl": "\x01\t\n\x1f", "latin": "é\u0080\u00a0ÿ", "cjk": "中文", "emoji": "😀", "empty": "", "space": " x "},
		"NUL":                {"z": "a\x00b"},
		"GONE":               {},
	}))
	for _, text := range []string{"", " \n", "null", "{}", `{"configTable":null}`, `{"configTable":{"NS":null}}`, `{"configTable":{"NS":{"a":"1"`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		kv, err := storage.ParseKV(text)
		if err != nil {
			return
		}
		saved := storage.AppendKV(nil, kv)
		if !json.Valid(saved) {
			t.Fatalf("%q saved as %q: no JSON", kv, saved)
		}
		again, err := storage.ParseKV(saved)
		if err != nil || !reflect.DeepEqual(again, kv) {
			t.Fatalf("%q read back as %q, %v", kv, again, err)
		}
	})
}
