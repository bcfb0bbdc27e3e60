package storage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// KV is the KV table: namespace → key → value. A namespace may be empty.
//
// Source: the files Apache RocketMQ 5.5.0 and 4.9.7 wrote, in testdata.
type KV map[string]map[string]string

// KVFile is the file at path that holds a KV table.
func KVFile(path string) *File {
	return &File{Path: path, Valid: func(data []byte) error {
		_, err := ParseKV(data)
		return err
	}}
}

// LoadKV reads a KV table by the rules of File.Read. No file is an empty table.
func LoadKV(f *File) (KV, Loaded, error) {
	data, loaded, err := f.Read()
	if err != nil {
		return nil, Loaded{}, err
	}
	kv, err := ParseKV(data)
	return kv, loaded, err
}

// ParseKV reads {"configTable":{"<namespace>":{"<key>":"<value>"}}}. An empty
// text, a missing configTable and null are empty; a null value is left out; any
// other value that is no text is taken as its JSON text, as Apache's reader does.
func ParseKV(text []byte) (KV, error) {
	kv := KV{}
	if len(bytes.TrimSpace(text)) == 0 {
		return kv, nil
	}
	var file map[string]json.RawMessage
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("storage: KV table: %w", err)
	}
	var table map[string]map[string]json.RawMessage
	if raw, ok := file["configTable"]; ok {
		if err := json.Unmarshal(raw, &table); err != nil {
			return nil, fmt.Errorf("storage: KV table: configTable: %w", err)
		}
	}
	for namespace, entries := range table {
		kv[namespace] = make(map[string]string, len(entries))
		for key, raw := range entries {
			value, present, err := parseValue(raw)
			if err != nil {
				return nil, fmt.Errorf("storage: KV table: %q, %q: %w", namespace, key, err)
			}
			if present {
				kv[namespace][key] = value
			}
		}
	}
	return kv, nil
}

func parseValue(raw json.RawMessage) (value string, present bool, err error) {
	if raw[0] == '"' {
		err = json.Unmarshal(raw, &value)
		return value, true, err
	}
	var text bytes.Buffer
	err = json.Compact(&text, raw)
	return text.String(), text.String() != "null", err
}

// AppendKV writes kv on one line, names sorted, without a line end.
func AppendKV(dst []byte, kv KV) []byte {
	dst = append(dst, `{"configTable":`...)
	dst = appendObject(dst, kv, func(dst []byte, entries map[string]string) []byte {
		return appendObject(dst, entries, appendString)
	})
	return append(dst, '}')
}

func appendObject[V any](dst []byte, object map[string]V, appendValue func([]byte, V) []byte) []byte {
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(object)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, name), ':')
		dst = appendValue(dst, object[name])
	}
	return append(dst, '}')
}

func appendString(dst []byte, text string) []byte {
	buf := bytes.NewBuffer(dst)
	encoder := json.NewEncoder(buf)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string and a buffer never fail
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
}
