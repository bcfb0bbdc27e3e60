package namesrv

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"strings"
	"testing"
)

// deflated4 is the body of a 4.x broker with compressedRegister: no mapping section.
func deflated4(t *testing.T) string {
	t.Helper()
	return deflate(t, `{"counter":1,"timestamp":1700000000000}`, false)
}

// deflated5 is that of a 5.x broker.
func deflated5(t *testing.T) string {
	t.Helper()
	return deflate(t, `{"counter":1,"stateVersion":0,"timestamp":1700000000000}`, true)
}

func deflate(t *testing.T, dataVersion string, mappings bool) string {
	t.Helper()
	var plain bytes.Buffer
	number := func(n int) { _ = binary.Write(&plain, binary.BigEndian, int32(n)) }
	item := func(text string) {
		number(len(text))
		plain.WriteString(text)
	}
	item(dataVersion)
	number(2)
	item("Base 4 4 6 SINGLE_TAG")
	item("Pad 4 4 6 SINGLE_TAG")
	item("[]")
	if mappings {
		number(0)
	}
	return zlibOf(t, plain.String())
}

func zlibOf(t *testing.T, plain string) string {
	t.Helper()
	var deflated strings.Builder
	w := zlib.NewWriter(&deflated)
	if _, err := w.Write([]byte(plain)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return deflated.String()
}
