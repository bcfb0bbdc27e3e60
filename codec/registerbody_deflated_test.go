package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zlib"
)

// Bodies that Java encoders made: of a 4.9.x broker with one topic, and of a
// 5.x broker with two topics and a static mapping.
var (
	deflated49 = mustHex("78da63606050af564ace2fcd2b492d52b232d7512ac9cc4d2d2e49cc2d50b232343740805a0606064620160fc92fc84c7654b0" +
		"00423385604f3f771fd7f8104777a01453742c0034cd1300")
	deflated5 = mustHex("78da558f4d4bc3401086577f86a7f09e576d6ab1656f156c09f881b478115936dbb106936cd8dd1c4ac8cd1fee642fd219660e2f3c" +
		"c3334288d500ebfa3692875a4a846822bd930f956ba1e612b16a88c3a683ca97b3ff1a8510973cb77bd755f6215b70df67bbe265fb" +
		"f4a8f7eb6d3680c1608e74134f1d4161536c5e3161570959672bee73241dfdf8e47dc1f33ba06c4d33b1a5773fe4af0d246cef7d717" +
		"8362c34ccd49d9cab7c9438543e9ea0be4c1d48823a67bfcf8573fecdba24a2f5b176a5a9b5e6737172e13039ed52104dfdd6534f0" +
		"16a31fe016d7c5233")
)

func mustHex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

func deflate(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func inflate(t testing.TB, b []byte) []byte {
	r, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// items builds the inside of a deflated body: a string is an item, an int a count.
func items(parts ...any) []byte {
	var b []byte
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			b = binary.BigEndian.AppendUint32(b, uint32(len(p)))
			b = append(b, p...)
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(p))
		}
	}
	return b
}

func TestRegisterBodyDeflated(t *testing.T) {
	const version = `{"counter":7,"timestamp":1}`
	topicA := topicOf("TopicA", 8, 8, 6, 0)
	body := func(m ...TopicQueueMapping) RegisterBody {
		return RegisterBody{DataVersion: DataVersion{Counter: 7, Timestamp: 1}, Topics: []TopicConfig{topicA}, HasFilterServers: true, Mappings: m}
	}
	line := "TopicA 8 8 6 SINGLE_TAG"
	mapping := string(mappingS.Append(nil, Legacy))
	for _, tc := range []struct {
		name    string
		in      []byte
		version int32
		want    RegisterBody
	}{
		{"4.9.x", deflated49, 407, RegisterBody{
			DataVersion: DataVersion{Counter: 7, Timestamp: 1700000000000}, Topics: []TopicConfig{topicA}, HasFilterServers: true}},
		{"5.x", deflated5, 479, RegisterBody{
			DataVersion: DataVersion{2, 1700000000000, 7, false}, Topics: []TopicConfig{topicOf("TopicB", 4, 4, 6, 0), topicA},
			Mappings: []TopicQueueMapping{mappingS}, HasFilterServers: true}},
		{"5.x body, older version: mappings ignored", deflated5, 412, RegisterBody{
			DataVersion: DataVersion{2, 1700000000000, 7, false}, Topics: []TopicConfig{topicOf("TopicB", 4, 4, 6, 0), topicA}, HasFilterServers: true}},
		{"first version", deflate(items(version, 1, line, "[]")), 37, body()},
		{"no topics", deflate(items("{}", 0, "[]", 0)), 413, RegisterBody{DataVersion: nowVersion, HasFilterServers: true}},
		{"null data version", deflate(items("null", 0, "[]")), 37, RegisterBody{HasFilterServers: true}},
		{"mapping", deflate(items(version, 1, line, "[]", 1, mapping)), 413, body(mappingS)},
		{"two mappings of one topic", deflate(items(version, 1, line, "[]", 2, `{"topic":"TopicS"}`, mapping)), 413, body(mappingS)},
		{"bytes after the end", deflate(append(items(version, 1, line, "[]", 0), "xyz"...)), 479, body()},
		{"bytes after the stream", append(deflate(items(version, 1, line, "[]")), "xyz"...), 400, body()},
		{"filter servers", deflate(items("null", 0, `["a:1","b:2"]`)), 400, RegisterBody{FilterServers: []string{"a:1", "b:2"}, HasFilterServers: true}},
		{"filter servers null", deflate(items("null", 0, "null")), 400, RegisterBody{}},
		{"filter servers without bytes", deflate(items("null", 0, "")), 400, RegisterBody{}},
		{"filter servers no list", deflate(items("null", 0, "{}")), 400, RegisterBody{HasFilterServers: true}},
		{"filter servers half a list", deflate(items("null", 0, `["a",`)), 400, RegisterBody{HasFilterServers: true}},
		{"repeated topic", deflate(items(version, 2, "TopicA 1 1 1 MULTI_TAG", line, "[]")), 400, body()},
	} {
		for _, compressed := range []bool{true, false} { // false: as 5.x brokers say
			t.Run(fmt.Sprint(tc.name, " ", compressed), func(t *testing.T) {
				got, err := parseRegister(string(tc.in), tc.version, compressed)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(*got, tc.want) {
					t.Errorf("got  %+v\nwant %+v", *got, tc.want)
				}
			})
		}
	}
}

func TestTopicLine(t *testing.T) {
	for _, tc := range []struct {
		line string
		want TopicConfig
	}{
		{"TopicA 8 8 6 SINGLE_TAG", topicOf("TopicA", 8, 8, 6, 0)},
		{"TopicA 8 4 2 MULTI_TAG {}", topicOf("TopicA", 8, 4, 2, 0)},
		{"TopicA 8 4 2 SINGLE_TAG ", topicOf("TopicA", 8, 4, 2, 0)},
		{"TopicA 8 4 2 SINGLE_TAG   ", topicOf("TopicA", 8, 4, 2, 0)},
		{`TopicB 4 4 6 SINGLE_TAG {"message.type":"FIFO"}`, topicOf("TopicB", 4, 4, 6, 0)},
		{`TopicB 4 4 6 SINGLE_TAG {"a": bad json`, topicOf("TopicB", 4, 4, 6, 0)},
		{"TopicB +4 -4 2147483647 SINGLE_TAG  x", topicOf("TopicB", 4, -4, 2147483647, 0)},
		{" 8 4 2 SINGLE_TAG", topicOf("", 8, 4, 2, 0)},
		{"主题 1 1 6 SINGLE_TAG", topicOf("主题", 1, 1, 6, 0)},
		{"a\xff 1 1 6 SINGLE_TAG", topicOf("a\ufffd", 1, 1, 6, 0)},
		{"%RETRY%g|1 1 1 6 SINGLE_TAG", topicOf("%RETRY%g|1", 1, 1, 6, 0)},
	} {
		p := registerParser{options: &RegisterBodyOptions{}}
		if got, err := p.topicLine([]byte(tc.line)); err != nil || got != tc.want {
			t.Errorf("%q: got %+v, %v; want %+v", tc.line, got, err, tc.want)
		}
	}
	for _, line := range []string{
		"", " ", "     ", "TopicA", "TopicA 8 8 6", "TopicA 8 8 6 ", "TopicA 8 8 SINGLE_TAG", "TopicA  8 8 6 SINGLE_TAG", "TopicA 8 8 6  SINGLE_TAG", "  8 8 6 SINGLE_TAG",
		"TopicA x 8 6 SINGLE_TAG", "TopicA 8 8.0 6 SINGLE_TAG", "TopicA 8 8 2147483648 SINGLE_TAG", "TopicA 8 8 -2147483649 SINGLE_TAG", "TopicA - 8 6 SINGLE_TAG", "TopicA +-8 8 6 SINGLE_TAG",
		"TopicA 8 8 6 NEW_TAG", "TopicA 8 8 6 single_tag", "TopicA\t8\t8\t6\tSINGLE_TAG",
	} {
		p := registerParser{options: &RegisterBodyOptions{}}
		if got, err := p.topicLine([]byte(line)); err == nil {
			t.Errorf("%q: got %+v", line, got)
		}
	}
}

func TestRegisterBodyDeflatedErrors(t *testing.T) {
	line := "TopicA 8 8 6 SINGLE_TAG"
	for _, tc := range []struct {
		name string
		in   []byte
		is   error // nil: any
	}{
		{"plain body", []byte(plain49), nil},
		{"not zlib", []byte{0x78}, nil},
		{"zlib with a dictionary", []byte{0x78, 0xbb, 0, 0, 0, 1, 3, 0}, nil},
		{"broken stream", append(deflated5[:20:20], 0xff, 0xff, 0xff, 0xff, 0xff), nil},
		{"nothing inside", deflate(nil), io.ErrUnexpectedEOF},
		{"without the mapping section", deflated49, io.ErrUnexpectedEOF},
		{"data version no object", deflate(items("[]", 0, "[]", 0)), nil},
		{"data version empty", deflate(items("", 0, "[]", 0)), nil},
		{"data version length -1", deflate(items(-1, 0, "[]", 0)), errNegativeCount},
		{"data version length 2^31-1", deflate(items(1<<31-1, 0, "[]", 0)), ErrInflatedTooLarge},
		{"data version longer than the rest", deflate(items(100, "{}")), io.ErrUnexpectedEOF},
		{"topic count -1", deflate(items("{}", -1, "[]", 0)), errNegativeCount},
		{"topic count 2^31-1", deflate(items("{}", 1<<31-1, "[]", 0)), ErrTooManyEntries},
		{"topic count too high by one", deflate(items("{}", 2, line, "[]", 0)), nil},
		{"topic count at the limit, no topics", deflate(items("{}", maxBodyEntries)), io.ErrUnexpectedEOF},
		{"topic length -1", deflate(items("{}", 1, -1, "[]", 0)), errNegativeCount},
		{"topic length 2^31-1", deflate(items("{}", 1, 1<<31-1, "[]", 0)), ErrInflatedTooLarge},
		{"topic line bad", deflate(items("{}", 1, "TopicA 8 8 6", "[]", 0)), errTopicLine},
		{"filter servers missing", deflate(items("{}", 0)), io.ErrUnexpectedEOF},
		{"filter servers length -1", deflate(items("{}", 0, -1)), errNegativeCount},
		{"filter servers too many", deflate(items("{}", 0, "["+strings.Repeat(`"",`, maxBodyEntries)+`""]`, 0)), ErrTooManyEntries},
		{"mapping count -1", deflate(items("{}", 0, "[]", -1)), errNegativeCount},
		{"mapping count 2^31-1", deflate(items("{}", 0, "[]", 1<<31-1)), ErrTooManyEntries},
		{"mapping missing", deflate(items("{}", 0, "[]", 1)), io.ErrUnexpectedEOF},
		{"mapping null", deflate(items("{}", 0, "[]", 1, "null")), ErrNullBody},
		{"mapping without topic", deflate(items("{}", 0, "[]", 1, `{"bname":"b"}`)), errMappingTopic},
		{"mapping with null topic", deflate(items("{}", 0, "[]", 1, `{"topic":null}`)), errMappingTopic},
		{"mapping not JSON", deflate(items("{}", 0, "[]", 1, `{"topic":"T"`)), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseRegister(string(tc.in), 479, true)
			if err == nil || (tc.is != nil && !errors.Is(err, tc.is)) {
				t.Errorf("got %+v, %v; want %v", got, err, tc.is)
			}
		})
	}
}

// A stream that ends early is an error wherever it ends; so is one whose
// content does, unless nothing more was to be read.
func TestRegisterBodyDeflatedTruncated(t *testing.T) {
	for i := 1; i < len(deflated5)-4; i++ { // the checksum is never looked at
		if _, err := parseRegister(string(deflated5[:i]), 479, true); err == nil && i < len(deflated5)-8 {
			t.Errorf("%d bytes of %d: no error", i, len(deflated5))
		}
	}
	inside := inflate(t, deflated5)
	for i := range inside {
		if _, err := parseRegister(string(deflate(inside[:i])), 479, true); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes of %d inside: %v", i, len(inside), err)
		}
	}
}

// zeros deflates a prefix and n MiB of zero bytes, by repeating the flushed
// block of one MiB. The stream has no end, which nobody comes to see.
func zeros(prefix []byte, n int) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(prefix)
	w.Flush()
	start := out.Len()
	w.Write(make([]byte, 1<<20))
	w.Flush()
	block := bytes.Clone(out.Bytes()[start:])
	for range n - 1 {
		out.Write(block)
	}
	return out.Bytes()
}

func TestRegisterBodyInflateBomb(t *testing.T) {
	const limit = 1 << 20
	parse := func(body []byte, limit int) error {
		_, err := ParseRegisterBody(body, &RegisterBodyOptions{Version: 479, Compressed: true, MaxInflatedBytes: limit})
		return err
	}
	for name, prefix := range map[string][]byte{
		"announced":                       items(1 << 30),
		"announced within the limit":      items(limit - 4),
		"an endless topic":                items("{}", 1, 1<<30),
		"many empty topics":               items("{}", 1_000_000),
		"a filter list of a gibibyte":     items("{}", 0, 1<<30),
		"a mapping of nearly a gibibyte":  items("{}", 0, "[]", 1, 1<<30-30),
		"a mapping list of empty entries": items("{}", 0, "[]", maxBodyMappings),
	} {
		t.Run(name, func(t *testing.T) {
			bomb := zeros(prefix, 1024)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := parse(bomb, limit)
			runtime.ReadMemStats(&after)
			if err == nil {
				t.Error("no error")
			}
			if cost := after.TotalAlloc - before.TotalAlloc; cost > 3*limit {
				t.Errorf("allocated %d bytes against a limit of %d", cost, limit)
			}
		})
	}
	if err := parse(zeros(items("{}", 1, limit), 1024), limit); !errors.Is(err, ErrInflatedTooLarge) {
		t.Errorf("an item that ends beyond the limit: %v", err)
	}
	inside := items("{}", 1, "TopicA 8 8 6 SINGLE_TAG", "[]", 0)
	if err := parse(deflate(inside), len(inside)); err != nil {
		t.Errorf("exactly the limit: %v", err)
	}
	if err := parse(deflate(inside), len(inside)-1); !errors.Is(err, ErrInflatedTooLarge) {
		t.Errorf("one byte less: %v", err)
	}
}

// An inflater that failed must serve the next body as if new.
func TestInflaterReuse(t *testing.T) {
	for range 3 {
		if _, err := parseRegister("x", 479, true); err == nil {
			t.Fatal("no error")
		}
		if _, err := parseRegister(string(deflated5[:100]), 479, true); err == nil {
			t.Fatal("no error")
		}
		got, err := parseRegister(string(deflated5), 479, true)
		if err != nil || len(got.Topics) != 2 || len(got.Mappings) != 1 {
			t.Fatalf("got %+v, %v", got, err)
		}
	}
}
