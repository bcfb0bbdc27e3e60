package codec

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// readLines decodes a file of one JSON object a line.
func readLines[T any](t *testing.T, file string) []T {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%s line %d: %v", file, len(all)+1, err)
		}
		all = append(all, v)
	}
	if len(all) == 0 {
		t.Fatalf("%s: nothing recorded", file)
	}
	return all
}

type recordedScenario struct {
	Name, Addr  string
	Version     int32
	Body        string
	DataVersion string
	Routes      []struct {
		Topic   string
		Version int32
		Body    string
	}
}

// What Apache stored of each recorded body shows in its later answers.
func TestRegisterBodyRecordedScenarios(t *testing.T) {
	mappings, filterServers := 0, 0
	for _, rec := range readLines[recordedScenario](t, "testdata/register/scenarios.jsonl") {
		t.Run(rec.Name, func(t *testing.T) {
			body, err := parseRegister(rec.Body, rec.Version, false)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(body.DataVersion.Append(nil)); got != rec.DataVersion {
				t.Errorf("DataVersion %s, want %s", got, rec.DataVersion)
			}
			if len(body.Topics) != len(rec.Routes) {
				t.Errorf("%d topics, want %d", len(body.Topics), len(rec.Routes))
			}
			for _, route := range rec.Routes {
				checkTopicAgainstRoute(t, body, route.Topic, route.Body)
				dialect := Standard
				if route.Version < 401 {
					dialect = Legacy
				}
				if got := mappingMember(body, route.Topic, dialect); !strings.HasSuffix(route.Body, got) {
					t.Errorf("mapping %s not at the end of %s", got, route.Body)
				} else if got != "}" {
					mappings++
				}
				if got := filterServerMember(body, rec.Addr); !strings.Contains(route.Body, got) {
					t.Errorf("filter servers %s not in %s", got, route.Body)
				}
			}
			filterServers += len(body.FilterServers)
		})
	}
	if mappings == 0 || filterServers == 0 {
		t.Errorf("%d mappings and %d filter servers: the recordings have more", mappings, filterServers)
	}
}

func checkTopicAgainstRoute(t *testing.T, body *RegisterBody, topic, route string) {
	t.Helper()
	i := slices.IndexFunc(body.Topics, func(c TopicConfig) bool { return c.HasName && c.Name == topic })
	if i < 0 {
		t.Errorf("topic %s is missing", topic)
		return
	}
	queues, err := ParseTopicRouteQueues([]byte(route))
	if err != nil || len(queues) != 1 {
		t.Fatalf("%v: %s", err, route)
	}
	q, c := queues[0], body.Topics[i]
	if got := (QueueData{q.BrokerName, c.ReadQueueNums, c.WriteQueueNums, c.Perm, c.TopicSysFlag}); got != q {
		t.Errorf("topic %s: %+v, want %+v", topic, got, q)
	}
}

// mappingMember is how the route of a topic ends.
func mappingMember(body *RegisterBody, topic string, d Dialect) string {
	for i := range body.Mappings {
		if m := &body.Mappings[i]; m.Key == topic {
			b := append([]byte(`,"topicQueueMappingByBroker":{`), AppendString(nil, m.BrokerName.S)...)
			return string(append(m.Append(append(b, ':'), d), "}}"...))
		}
	}
	return "}"
}

func filterServerMember(body *RegisterBody, addr string) string {
	if len(body.FilterServers) == 0 {
		return `"filterServerTable":{}`
	}
	list, _ := json.Marshal(body.FilterServers)
	return `"filterServerTable":{"` + addr + `":` + string(list) + `}`
}

type recordedCapture struct {
	File       string
	Version    int32
	Compressed bool
	CRC        int32
	Body       string
	BodyB64    []byte `json:"body_b64"`
}

// Bodies of released brokers, read once more by slower means.
func TestRegisterBodyRecordedCaptures(t *testing.T) {
	for i, rec := range readLines[recordedCapture](t, "testdata/register/captures.jsonl") {
		raw := append(rec.BodyB64, rec.Body...)
		if got := BodyCRC(raw); got != rec.CRC {
			t.Errorf("%d %s: CRC %d, want %d", i, rec.File, got, rec.CRC)
		}
		body, err := parseRegister(string(raw), rec.Version, rec.Compressed)
		if err != nil {
			t.Errorf("%d %s: %v", i, rec.File, err)
			continue
		}
		if rec.Body != "" {
			checkAgainstEncodingJSON(t, rec.Body, body)
		} else {
			checkAgainstItems(t, inflate(t, raw), rec.Version, body)
		}
	}
}

type slowTopic struct {
	TopicName                                         string
	ReadQueueNums, WriteQueueNums, Perm, TopicSysFlag int32
}

type slowWrapper struct {
	DataVersion              struct{ Counter, StateVersion, Timestamp int64 }
	MappingDataVersion       struct{ Timestamp json.Number }
	TopicConfigTable         map[string]slowTopic
	TopicQueueMappingInfoMap map[string]struct {
		BName     string
		CurrIDMap map[int32]int32
	}
}

var bareKey = regexp.MustCompile(`([{,])(-?\d+):`)

func checkAgainstEncodingJSON(t *testing.T, raw string, got *RegisterBody) {
	t.Helper()
	var want struct {
		FilterServerList            []string
		TopicConfigSerializeWrapper slowWrapper
	}
	if err := json.Unmarshal(bareKey.ReplaceAll([]byte(raw), []byte(`$1"$2":`)), &want); err != nil {
		t.Fatal(err)
	}
	w := want.TopicConfigSerializeWrapper
	if v := got.DataVersion; v != (DataVersion{w.DataVersion.StateVersion, w.DataVersion.Timestamp, w.DataVersion.Counter, false}) {
		t.Errorf("DataVersion %+v, want %+v", v, w.DataVersion)
	}
	if s := raw[got.MappingTimestamp.Start:got.MappingTimestamp.End]; s != w.MappingDataVersion.Timestamp.String() {
		t.Errorf("mapping timestamp %q, want %q", s, w.MappingDataVersion.Timestamp)
	}
	if !slices.Equal(got.FilterServers, want.FilterServerList) && len(want.FilterServerList) > 0 || got.HasFilterServers != (want.FilterServerList != nil) {
		t.Errorf("filter servers %v, want %v", got.FilterServers, want.FilterServerList)
	}
	if len(got.Topics) != len(w.TopicConfigTable) || len(got.Mappings) != len(w.TopicQueueMappingInfoMap) {
		t.Errorf("%d topics, %d mappings; want %d, %d", len(got.Topics), len(got.Mappings), len(w.TopicConfigTable), len(w.TopicQueueMappingInfoMap))
	}
	for _, c := range got.Topics {
		want := w.TopicConfigTable[c.Key]
		if (slowTopic{c.Name, c.ReadQueueNums, c.WriteQueueNums, c.Perm, c.TopicSysFlag}) != want {
			t.Errorf("topic %+v, want %+v", c, want)
		}
	}
	for _, m := range got.Mappings {
		want := w.TopicQueueMappingInfoMap[m.Key]
		if m.BrokerName.S != want.BName || len(m.CurrIDMap) != len(want.CurrIDMap) {
			t.Errorf("mapping %+v, want %+v", m, want)
		}
		for _, pair := range m.CurrIDMap {
			if physical, ok := want.CurrIDMap[pair.Logical]; !ok || physical != pair.Physical {
				t.Errorf("mapping %s: %v, want %v", m.Key, m.CurrIDMap, want.CurrIDMap)
			}
		}
	}
}

// checkAgainstItems reads the inside of a deflated body item by item.
func checkAgainstItems(t *testing.T, inside []byte, version int32, got *RegisterBody) {
	t.Helper()
	number := func() (n int) {
		n = int(binary.BigEndian.Uint32(inside))
		inside = inside[4:]
		return n
	}
	item := func() (b []byte) {
		n := number()
		b, inside = inside[:n], inside[n:]
		return b
	}
	v, err := ParseDataVersion(item(), 0)
	if err != nil || v != got.DataVersion {
		t.Errorf("DataVersion %+v, want %+v, %v", got.DataVersion, v, err)
	}
	topics := number()
	for i := range topics {
		if f := bytes.Fields(item()); i < len(got.Topics) && got.Topics[i].Name != string(f[0]) {
			t.Errorf("topic %d is %s, want %s", i, got.Topics[i].Name, f[0])
		}
	}
	item() // filter servers
	mappings := 0
	if version >= 413 {
		mappings = number()
	}
	if len(got.Topics) != topics || len(got.Mappings) != mappings {
		t.Errorf("%d topics, %d mappings; want %d, %d", len(got.Topics), len(got.Mappings), topics, mappings)
	}
}
