package codec

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"unsafe"
)

// plain49 is a whole body of a 4.9.x broker.
const plain49 = `{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":7,"timestamp":1700000000000},"topicConfigTable":{"TopicA":{"order":false,"perm":6,"readQueueNums":8,"topicFilterType":"SINGLE_TAG","topicName":"TopicA","topicSysFlag":0,"writeQueueNums":8}}}}`

// plain53 is a shortened body of a 5.3.3 broker.
const plain53 = `{"filterServerList":[],
 "topicConfigSerializeWrapper":{
   "dataVersion":{"counter":0,"stateVersion":0,"timestamp":1795958674201},
   "mappingDataVersion":{"counter":0,"stateVersion":0,"timestamp":1795958676849},
   "topicConfigTable":{
     "TBW102":{"attributes":{},"order":false,"perm":7,"readQueueNums":8,"topicFilterType":"SINGLE_TAG","topicName":"TBW102","topicSysFlag":0,"writeQueueNums":8}},
   "topicQueueMappingDetailMap":{},
   "topicQueueMappingInfoMap":{
     "TopicS":{"bname":"broker-a","currIdMap":{0:3,2:1},"dirty":false,"epoch":1700000000001,"scope":"__global__","topic":"TopicS","totalQueues":4}}}}`

var (
	zeroVersion = DataVersion{}
	nowVersion  = DataVersion{Timestamp: testNow}
	mappingS    = TopicQueueMapping{
		Key: "TopicS", Topic: NullString{"TopicS", true}, Scope: NullString{"__global__", true}, BrokerName: NullString{"broker-a", true},
		TotalQueues: 4, Epoch: 1700000000001, CurrIDMap: []IDPair{{0, 3}, {2, 1}},
	}
)

// topicOf is a topic whose key is its name.
func topicOf(name string, read, write, perm, flag int32) TopicConfig {
	return TopicConfig{name, name, true, read, write, perm, flag}
}

func parseRegister(body string, version int32, compressed bool) (*RegisterBody, error) {
	return ParseRegisterBody([]byte(body), &RegisterBodyOptions{Version: version, Compressed: compressed, NowMillis: testNow})
}

type bodyCase struct {
	name, in string
	want     RegisterBody
}

func runBodyCases(t *testing.T, version int32, cases []bodyCase) {
	t.Helper()
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseRegister(tc.in, version, false)
			if err != nil {
				t.Fatal(err)
			}
			got.MappingTimestamp = Span{} // has its own test
			if len(got.Topics) == 0 {
				got.Topics = nil
			}
			if !reflect.DeepEqual(*got, tc.want) {
				t.Errorf("got  %+v\nwant %+v", *got, tc.want)
			}
		})
	}
}

func wrapped(members string) string { return `{"topicConfigSerializeWrapper":{` + members + `}}` }

func TestRegisterBodyJSON(t *testing.T) {
	empty := RegisterBody{DataVersion: nowVersion, HasFilterServers: true}
	with := func(change func(*RegisterBody)) RegisterBody { b := empty; change(&b); return b }
	topics := func(ts ...TopicConfig) RegisterBody { return with(func(b *RegisterBody) { b.Topics = ts }) }
	runBodyCases(t, 479, []bodyCase{
		{"no body", "", RegisterBody{HasFilterServers: true}},
		{"4.9.x", plain49, RegisterBody{
			DataVersion: DataVersion{Counter: 7, Timestamp: 1700000000000}, Topics: []TopicConfig{topicOf("TopicA", 8, 8, 6, 0)}, HasFilterServers: true}},
		{"5.3.3", plain53, RegisterBody{
			DataVersion: DataVersion{Timestamp: 1795958674201}, Topics: []TopicConfig{topicOf("TBW102", 8, 8, 7, 0)},
			Mappings: []TopicQueueMapping{mappingS}, HasFilterServers: true}},
		{"empty object", `{}`, empty},
		{"blanks around", " {} \r\n", empty},
		{"unknown members", `{"future":{"list":[1,2,{"k":"v]"}]},"x":null}`, empty},
		{"empty wrapper", wrapped(``), empty},
		{"null wrapper", `{"topicConfigSerializeWrapper":null}`, with(func(b *RegisterBody) { b.DataVersion, b.NullTopicTable = zeroVersion, true })},
		{"null data version", wrapped(`"dataVersion":null`), with(func(b *RegisterBody) { b.DataVersion = zeroVersion })},
		{"empty data version", wrapped(`"dataVersion":{}`), empty},
		{"null counter", wrapped(`"dataVersion":{"counter":null,"timestamp":1}`),
			with(func(b *RegisterBody) { b.DataVersion = DataVersion{Timestamp: 1, NullCounter: true} })},
		{"null table", wrapped(`"topicConfigTable":null`), with(func(b *RegisterBody) { b.NullTopicTable = true })},
		{"null table, then a table", wrapped(`"topicConfigTable":null,"topicConfigTable":{}`), empty},
		{"null filter servers", `{"filterServerList":null}`, with(func(b *RegisterBody) { b.HasFilterServers = false })},
		{"empty filter servers", `{"filterServerList":[]}`, empty},
		{"filter servers", `{"filterServerList":["a:1",null,"b:2",3]}`, with(func(b *RegisterBody) { b.FilterServers = []string{"a:1", "b:2", "3"} })},
		{"null mappings", wrapped(`"topicQueueMappingInfoMap":null,"topicQueueMappingDetailMap":null,"mappingDataVersion":null`), empty},

		{"topic defaults", wrapped(`"topicConfigTable":{"T":{"topicName":"T"}}`), topics(topicOf("T", 16, 16, 6, 0))},
		{"topic numbers as strings", wrapped(`"topicConfigTable":{"T":{"perm":"4","topicName":"T","readQueueNums":"1","writeQueueNums":"2","topicSysFlag":"3"}}`),
			topics(topicOf("T", 1, 2, 4, 3))},
		{"topic nulls", wrapped(`"topicConfigTable":{"T":{"topicName":"T","readQueueNums":null,"attributes":null,"topicFilterType":null,"order":null}}`),
			topics(topicOf("T", 0, 16, 6, 0))},
		{"topic without name", wrapped(`"topicConfigTable":{"T":{}}`), topics(TopicConfig{Key: "T", ReadQueueNums: 16, WriteQueueNums: 16, Perm: 6})},
		{"topic with null name", wrapped(`"topicConfigTable":{"T":{"topicName":null}}`), topics(TopicConfig{Key: "T", ReadQueueNums: 16, WriteQueueNums: 16, Perm: 6})},
		{"topic with another name", wrapped(`"topicConfigTable":{"K":{"topicName":"N"}}`), topics(TopicConfig{"K", "N", true, 16, 16, 6, 0})},
		{"topic with an empty name", wrapped(`"topicConfigTable":{"":{"topicName":""}}`), topics(topicOf("", 16, 16, 6, 0))},
		{"topic with escapes", wrapped(`"topicConfigTable":{"q\"\u4e3b":{"topicName":"q\"主"}}`), topics(topicOf(`q"主`, 16, 16, 6, 0))},
		{"topic under a bare integer", wrapped(`"topicConfigTable":{-7:{"topicName":-7}}`), topics(topicOf("-7", 16, 16, 6, 0))},
		{"null topic", wrapped(`"topicConfigTable":{"A":null,"B":{"topicName":"B"}}`), topics(topicOf("B", 16, 16, 6, 0))},
		{"unknown filter type", wrapped(`"topicConfigTable":{"T":{"topicName":"T","topicFilterType":"NEW"}}`), topics(topicOf("T", 16, 16, 6, 0))},
		{"unknown topic members", wrapped(`"topicConfigTable":{"T":{"unknown":[{"a":"}"},1.5e3,null],"x":"\\\"{","topicName":"T"}}`), topics(topicOf("T", 16, 16, 6, 0))},
		{"repeated topic", wrapped(`"topicConfigTable":{"A":{"topicName":"A","perm":1},"B":{"topicName":"B"},"A":{"topicName":"A","perm":2},"C":{"topicName":"C"},"A":{"topicName":"X","perm":4}}`),
			topics(TopicConfig{"A", "X", true, 16, 16, 4, 0}, topicOf("B", 16, 16, 6, 0), topicOf("C", 16, 16, 6, 0))},
		{"repeated table", wrapped(`"topicConfigTable":{"A":{}},"topicConfigTable":{"B":{"topicName":"B"}}`), topics(topicOf("B", 16, 16, 6, 0))},
		{"repeated wrapper", `{"topicConfigSerializeWrapper":{"dataVersion":null,"topicConfigTable":{"A":{}},"topicQueueMappingInfoMap":{"A":{}}},"topicConfigSerializeWrapper":{}}`, empty},
		{"repeated filter servers", `{"filterServerList":["a"],"filterServerList":["b"]}`, with(func(b *RegisterBody) { b.FilterServers = []string{"b"} })},
	})
}

func TestRegisterBodyOld(t *testing.T) {
	runBodyCases(t, 36, []bodyCase{
		{"no body", "", RegisterBody{}},
		{"empty object", "{}", RegisterBody{DataVersion: nowVersion}},
		{"wrapper", `{"dataVersion":{"counter":7,"timestamp":1},"topicConfigTable":{"T":{"topicName":"T"}}}`,
			RegisterBody{DataVersion: DataVersion{Counter: 7, Timestamp: 1}, Topics: []TopicConfig{topicOf("T", 16, 16, 6, 0)}}},
		{"null table", `{"topicConfigTable":null}`, RegisterBody{DataVersion: nowVersion, NullTopicTable: true}},
		{"body of a later form", plain49, RegisterBody{DataVersion: nowVersion}},
	})
	for _, body := range []string{"null", "x\x9c", string(deflated49)} {
		if _, err := parseRegister(body, 36, true); err == nil {
			t.Errorf("%q: no error", body)
		}
	}
	if _, err := parseRegister(plain49, 36, true); err != nil {
		t.Errorf("compressed does not count below 37: %v", err)
	}
}

func TestRegisterBodyMappings(t *testing.T) {
	global := NullString{"__global__", true}
	mappings := func(ms ...TopicQueueMapping) RegisterBody {
		return RegisterBody{DataVersion: nowVersion, HasFilterServers: true, Mappings: ms}
	}
	in := func(s string) string { return wrapped(`"topicQueueMappingInfoMap":{` + s + `}`) }
	runBodyCases(t, 479, []bodyCase{
		{"defaults", in(`"T":{}`), mappings(TopicQueueMapping{Key: "T", Scope: global})},
		{"nulls", in(`"T":{"bname":null,"currIdMap":null,"dirty":null,"epoch":null,"scope":null,"topic":null,"totalQueues":null}`),
			mappings(TopicQueueMapping{Key: "T", NullIDMap: true})},
		{"quoted and bare keys, unsorted, repeated, null", in(`"T":{"currIdMap":{"10":1,2:3,-1:"4",2:5,7:null}}`),
			mappings(TopicQueueMapping{Key: "T", Scope: global, CurrIDMap: []IDPair{{-1, 4}, {2, 5}, {10, 1}}})},
		{"dirty, unknown member", in(`"T":{"dirty":true,"x":{0:1}}`), mappings(TopicQueueMapping{Key: "T", Scope: global, Dirty: true})},
		{"topic differs from key, null entry", in(`"N":null,"K":{"topic":"T","bname":"b"}`),
			mappings(TopicQueueMapping{Key: "K", Scope: global, Topic: NullString{"T", true}, BrokerName: NullString{"b", true}})},
		{"repeated key", in(`"A":{"epoch":1},"B":{},"A":{"epoch":2}`),
			mappings(TopicQueueMapping{Key: "A", Scope: global, Epoch: 2}, TopicQueueMapping{Key: "B", Scope: global})},
	})
}

func TestRegisterBodyErrors(t *testing.T) {
	for _, body := range []string{
		" ", "x", "[]", `"a"`, "1", "nullx", "{", `{}x`, `{}{}`, `{"filterServerList":{}}`, `{"filterServerList":[[]]}`, `{"topicConfigSerializeWrapper":[]}`,
		wrapped(`"dataVersion":[]`), wrapped(`"dataVersion":{"counter":"x"}`), wrapped(`"dataVersion":{"counter":9223372036854775808}`),
		wrapped(`"topicConfigTable":[]`), wrapped(`"topicConfigTable":{"T":1}`), wrapped(`"topicConfigTable":{"T":{"perm":2147483648}}`),
		wrapped(`"topicConfigTable":{"T":{"readQueueNums":-2147483649}}`), wrapped(`"topicConfigTable":{"T":{"writeQueueNums":true}}`),
		wrapped(`"topicConfigTable":{"T":{"topicSysFlag":"x"}}`), wrapped(`"topicConfigTable":{"T":{"topicName":{}}}`), wrapped(`"topicConfigTable":{T:{}}`),
		wrapped(`"topicQueueMappingInfoMap":[]`), wrapped(`"topicQueueMappingInfoMap":{"T":{"currIdMap":{"a":1}}}`),
		wrapped(`"topicQueueMappingInfoMap":{"T":{"currIdMap":{2147483648:1}}}`), wrapped(`"topicQueueMappingInfoMap":{"T":{"currIdMap":{1:2147483648}}}`),
		wrapped(`"mappingDataVersion":{"timestamp":}`), `{"x":` + strings.Repeat("[", 1<<20) + `}`, strings.Repeat("[", 1<<20),
	} {
		if got, err := parseRegister(body, 479, false); err == nil {
			t.Errorf("%.80s: got %+v", body, got)
		}
	}
	if _, err := parseRegister("null", 479, false); !errors.Is(err, ErrNullBody) {
		t.Errorf("null: %v", err)
	}
	for _, body := range []string{"", plain49} {
		if _, err := parseRegister(body, -1, false); !errors.Is(err, ErrNegativeVersion) {
			t.Errorf("version -1: %v", err)
		}
	}
}

// No prefix of a body is accepted, and none panics.
func TestRegisterBodyTruncated(t *testing.T) {
	for i := 1; i < len(plain53); i++ {
		if _, err := parseRegister(plain53[:i], 479, false); err == nil {
			t.Errorf("%d bytes of %d: no error", i, len(plain53))
		}
	}
}

func TestRegisterBodyEntryLimit(t *testing.T) {
	for name, body := range map[string]string{
		"topics":         wrapped(`"topicConfigTable":{` + strings.Repeat(`"":{},`, maxBodyEntries) + `"":{}}`),
		"mappings":       wrapped(`"topicQueueMappingInfoMap":{` + strings.Repeat(`"":{},`, maxBodyMappings) + `"":{}}`),
		"queue ids":      wrapped(`"topicQueueMappingInfoMap":{"":{"currIdMap":{` + strings.Repeat("0:0,", maxBodyEntries) + `0:0}}}`),
		"filter servers": `{"filterServerList":[` + strings.Repeat(`"",`, maxBodyEntries) + `""]}`,
	} {
		if _, err := parseRegister(body, 479, false); !errors.Is(err, ErrTooManyEntries) {
			t.Errorf("%s: got %v, want ErrTooManyEntries", name, err)
		}
	}
}

func TestRegisterBodyMappingTimestamp(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"5.3.3", plain53, "1795958676849"},
		{"4.9.x", plain49, ""},
		{"last member wins", wrapped(`"mappingDataVersion":{"timestamp":1,"counter":5,"timestamp": 22 }`), "22"},
		{"last object wins", wrapped(`"mappingDataVersion":{"timestamp":1},"mappingDataVersion":{}`), ""},
		{"repeated wrapper", `{"topicConfigSerializeWrapper":{"mappingDataVersion":{"timestamp":1}},"topicConfigSerializeWrapper":{}}`, ""},
		{"null", wrapped(`"mappingDataVersion":null`), ""},
		{"null timestamp", wrapped(`"mappingDataVersion":{"timestamp":null}`), ""},
		{"string", wrapped(`"mappingDataVersion":{"timestamp":"12"}`), ""},
		{"sign", wrapped(`"mappingDataVersion":{"timestamp":-12}`), ""},
		{"fraction", wrapped(`"mappingDataVersion":{"timestamp":1.5}`), ""},
		{"any length", wrapped(`"mappingDataVersion":{"timestamp":123456789012345678901234567890}`), "123456789012345678901234567890"},
		{"elsewhere", wrapped(`"x":{"mappingDataVersion":{"timestamp":1}},"mappingDataVersion":{"x":{"timestamp":2}}`), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseRegister(tc.in, 479, false)
			if err != nil {
				t.Fatal(err)
			}
			if s := got.MappingTimestamp; tc.in[s.Start:s.End] != tc.want || (tc.want == "" && s != Span{}) {
				t.Errorf("got %v %q, want %q", s, tc.in[s.Start:s.End], tc.want)
			}
		})
	}
}

// Intern sees each key once, unescaped, and each name that differs from its key.
func TestRegisterBodyIntern(t *testing.T) {
	var seen []string
	o := &RegisterBodyOptions{Version: 479, Intern: func(b []byte) string {
		seen = append(seen, string(b))
		return string(b)
	}}
	body := wrapped(`"topicConfigTable":{"A":{"topicName":"A"},"K":{"topicName":"N"},"q\"":{},"C":null}`)
	got, err := ParseRegisterBody([]byte(body), o)
	if err != nil {
		t.Fatal(err)
	}
	if unsafe.StringData(got.Topics[0].Key) != unsafe.StringData(got.Topics[0].Name) {
		t.Error("key and name are stored twice")
	}
	if want := []string{"A", "K", "N", `q"`, "C"}; !reflect.DeepEqual(seen, want) {
		t.Errorf("saw %q, want %q", seen, want)
	}
	if name := got.Topics[1].Name; name != "N" {
		t.Errorf("name %q", name)
	}
}

func TestTopicQueueMappingAppend(t *testing.T) {
	for _, tc := range []struct {
		name    string
		in      TopicQueueMapping
		dialect Dialect
		want    string
	}{
		{"standard", mappingS, Standard,
			`{"bname":"broker-a","currIdMap":{"0":3,"2":1},"dirty":false,"epoch":1700000000001,"scope":"__global__","topic":"TopicS","totalQueues":4}`},
		{"legacy", mappingS, Legacy,
			`{"bname":"broker-a","currIdMap":{0:3,2:1},"dirty":false,"epoch":1700000000001,"scope":"__global__","topic":"TopicS","totalQueues":4}`},
		{"nulls", TopicQueueMapping{Key: "K", NullIDMap: true}, Standard, `{"dirty":false,"epoch":0,"totalQueues":0}`},
		{"empty", TopicQueueMapping{Topic: NullString{`a"`, true}, Dirty: true, Epoch: -1}, Standard, `{"currIdMap":{},"dirty":true,"epoch":-1,"topic":"a\"","totalQueues":0}`},
		{"negative id", TopicQueueMapping{CurrIDMap: []IDPair{{-1, -2}}}, Legacy, `{"currIdMap":{-1:-2},"dirty":false,"epoch":0,"totalQueues":0}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := string(tc.in.Append(nil, tc.dialect)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
