package fuzz

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/waymark-mq/waymark/codec"
)

const (
	now           = 1_700_000_000_000
	inflatedLimit = 64 << 10
)

func parseBody(body []byte, version int32, compressed bool) (*codec.RegisterBody, error) {
	return codec.ParseRegisterBody(body, &codec.RegisterBodyOptions{
		Version: version, Compressed: compressed, NowMillis: now, MaxInflatedBytes: inflatedLimit,
	})
}

// FuzzRegisterBodyJSON reads plain registrations of any version. What is
// accepted must be sound, must not alias the input, and must not depend on the
// digits that MappingTimestamp points at.
func FuzzRegisterBodyJSON(f *testing.F) {
	f.Add(int32(479), []byte(`{}`))
	f.Add(int32(36), []byte(`{"dataVersion":{"counter":1},"topicConfigTable":null,"mappingDataVersion":{"timestamp":17}}`))
	f.Fuzz(func(t *testing.T, version int32, body []byte) {
		if len(body) > 0 && body[0] == 'x' {
			return // that is the other target's
		}
		got, err := parseBody(bytes.Clone(body), version, false)
		if err != nil {
			if got != nil {
				t.Error("a body and an error")
			}
			return
		}
		checkBody(t, got, len(body))
		checkOwnsMemory(t, got, body, version, false)
		checkMappings(t, got)
		checkTimestampDigits(t, got, body, version)
	})
}

// FuzzRegisterBodyDeflated reads deflated registrations: the bytes as they are,
// or, so that more of them inflate, wrapped in a zlib stream first.
func FuzzRegisterBodyDeflated(f *testing.F) {
	inside := binary.BigEndian.AppendUint32(nil, 2)
	inside = append(inside, "{}\x00\x00\x00\x01\x00\x00\x00\x11T 1 1 6 SINGLE_TAG\x00\x00\x00\x02[]\x00\x00\x00\x00"...)
	f.Add(int32(479), true, inside)
	f.Add(int32(407), false, store(inside))
	f.Fuzz(func(t *testing.T, version int32, wrap bool, body []byte) {
		if version < 37 || len(body) == 0 {
			return
		}
		if wrap {
			body = store(body)
		}
		got, err := parseBody(bytes.Clone(body), version, true)
		if err != nil {
			return
		}
		checkBody(t, got, inflatedLimit)
		checkOwnsMemory(t, got, body, version, true)
		checkMappings(t, got)
		if got.MappingTimestamp != (codec.Span{}) {
			t.Error("a timestamp's place in a deflated body")
		}
	})
}

// store wraps b in a zlib stream without compressing it: fast, and its
// coverage does not wander. There is no checksum, which nobody looks at.
func store(b []byte) []byte {
	out := []byte{0x78, 0x01}
	for {
		n := min(len(b), 0xffff)
		last := byte(0)
		if n == len(b) {
			last = 1
		}
		out = append(out, last)
		out = binary.LittleEndian.AppendUint16(out, uint16(n))
		out = binary.LittleEndian.AppendUint16(out, ^uint16(n))
		out = append(out, b[:n]...)
		if b = b[n:]; last == 1 {
			return out
		}
	}
}

// checkBody checks what must hold for every accepted body; source is how many
// bytes it can have come from at most.
func checkBody(t *testing.T, b *codec.RegisterBody, source int) {
	t.Helper()
	size := 0
	text := func(s string) {
		size += len(s)
		if !utf8.ValidString(s) {
			t.Errorf("%q is not UTF-8", s)
		}
	}
	topics := make(map[string]bool)
	for _, c := range b.Topics {
		text(c.Key)
		if text(c.Name); topics[c.Key] || !c.HasName && c.Name != "" {
			t.Errorf("topic %+v", c)
		}
		topics[c.Key] = true
	}
	mappings := make(map[string]bool)
	for _, m := range b.Mappings {
		for _, s := range []codec.NullString{{S: m.Key, Valid: true}, m.Topic, m.BrokerName} {
			if text(s.S); !s.Valid && s.S != "" {
				t.Errorf("mapping %+v", m)
			}
		}
		for i := 1; i < len(m.CurrIDMap); i++ {
			if m.CurrIDMap[i-1].Logical >= m.CurrIDMap[i].Logical {
				t.Errorf("mapping %+v: ids not in order", m)
			}
		}
		if mappings[m.Key] {
			t.Errorf("mapping %s twice", m.Key)
		}
		mappings[m.Key] = true
	}
	for _, s := range b.FilterServers {
		text(s)
	}
	if size > 6*source { // a key may be stored twice; a byte that is not UTF-8 becomes three
		t.Errorf("%d bytes of text from %d bytes", size, source)
	}
	if len(b.FilterServers) > 0 && !b.HasFilterServers || len(b.Topics) > 0 && b.NullTopicTable {
		t.Errorf("contradiction in %+v", b)
	}
}

// checkOwnsMemory parses a copy, overwrites that and compares.
func checkOwnsMemory(t *testing.T, want *codec.RegisterBody, body []byte, version int32, compressed bool) {
	t.Helper()
	source := bytes.Clone(body)
	got, err := parseBody(source, version, compressed)
	for i := range source {
		source[i] ^= 0xff
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("second reading: %+v, %v; want %+v", got, err, want)
	}
}

// checkMappings appends each mapping and reads it again. Null members are left
// out, so they come back as the defaults.
func checkMappings(t *testing.T, b *codec.RegisterBody) {
	t.Helper()
	for _, want := range b.Mappings {
		for _, dialect := range []codec.Dialect{codec.Standard, codec.Legacy} {
			body := codec.AppendString([]byte(`{"topicConfigSerializeWrapper":{"topicQueueMappingInfoMap":{`), want.Key)
			body = append(want.Append(append(body, ':'), dialect), "}}}"...)
			got, err := parseBody(body, 479, false)
			if err != nil || len(got.Mappings) != 1 {
				t.Fatalf("%s: %+v, %v", body, got, err)
			}
			if !want.Scope.Valid {
				want.Scope = codec.NullString{S: "__global__", Valid: true}
			}
			want.NullIDMap = false
			if !reflect.DeepEqual(got.Mappings[0], want) {
				t.Errorf("%s: %+v, want %+v", body, got.Mappings[0], want)
			}
		}
	}
}

// checkTimestampDigits puts other digits where MappingTimestamp points.
func checkTimestampDigits(t *testing.T, want *codec.RegisterBody, body []byte, version int32) {
	t.Helper()
	at := want.MappingTimestamp
	if at == (codec.Span{}) {
		return
	}
	changed := append(bytes.Clone(body[:at.Start]), "98765432109876543210"...)
	changed = append(changed, body[at.End:]...)
	got, err := parseBody(changed, version, false)
	if err != nil {
		t.Fatalf("%s: %v", changed, err)
	}
	if got.MappingTimestamp != (codec.Span{Start: at.Start, End: at.Start + 20}) {
		t.Errorf("digits at %v, want them at %d", got.MappingTimestamp, at.Start)
	}
	if got.MappingTimestamp = at; !reflect.DeepEqual(got, want) {
		t.Errorf("other digits: %+v, want %+v", got, want)
	}
}
