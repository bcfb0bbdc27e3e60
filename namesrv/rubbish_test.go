package namesrv

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// rawFrame is a frame of any lengths; those that are true are given as -1.
func rawFrame(length, headerWord int64, header, body string) []byte {
	b := make([]byte, 8, 8+len(header)+len(body))
	b = append(append(b, header...), body...)
	if length == -1 {
		length = int64(len(b) - 4)
	}
	if headerWord == -1 {
		headerWord = int64(len(header))
	}
	binary.BigEndian.PutUint32(b, uint32(length))
	binary.BigEndian.PutUint32(b[4:], uint32(headerWord))
	return b
}

const jsonHeader = `{"code":105,"flag":0,"language":"JAVA","opaque":7,"version":513,"extFields":{"topic":"Base"}}`

// brokenFrames are whole frames that lie or hold nonsense, and what becomes of their connection.
var brokenFrames = []struct {
	name, end string // "closed", or the answer's code
	frame     []byte
}{
	{"length 0", "closed", rawFrame(0, -1, jsonHeader, "")},
	{"length 1", "closed", rawFrame(1, -1, jsonHeader, "")},
	{"length 3", "closed", rawFrame(3, -1, jsonHeader, "")},
	{"length 4", "closed", rawFrame(4, -1, jsonHeader, "")},
	{"length -1", "closed", rawFrame(0xffffffff, -1, jsonHeader, "")},
	{"least length", "closed", rawFrame(0x80000000, -1, jsonHeader, "")},
	{"greatest length", "closed", rawFrame(0x7fffffff, -1, jsonHeader, "")},
	{"16 MiB and a byte", "closed", rawFrame(16<<20-3, -1, jsonHeader, "")},
	{"header longer than the frame", "closed", rawFrame(-1, int64(len(jsonHeader))+1, jsonHeader, "")},
	{"greatest header length", "closed", rawFrame(-1, 0xffffff, jsonHeader, "")},
	{"no header", "closed", rawFrame(-1, 0, "", jsonHeader)},
	{"header type 2", "closed", rawFrame(-1, 2<<24|int64(len(jsonHeader)), jsonHeader, "")},
	{"header type 255", "closed", rawFrame(-1, 255<<24|int64(len(jsonHeader)), jsonHeader, "")},
	{"JSON marked binary", "closed", rawFrame(-1, 1<<24|int64(len(jsonHeader)), jsonHeader, "")},
	{"empty object", "3", rawFrame(-1, -1, "{}", "body")},
	{"list", "closed", rawFrame(-1, -1, "[]", "body")},
	{"null", "closed", rawFrame(-1, -1, "null", "body")},
	{"text", "closed", rawFrame(-1, -1, `"header"`, "body")},
	{"a megabyte of brackets", "closed", rawFrame(-1, -1, strings.Repeat("[", 1<<20), "")},
	{"brackets in a member", "closed", rawFrame(-1, -1, `{"x":`+strings.Repeat("[", 1<<19), "")},
	{"not ended", "closed", rawFrame(-1, -1, jsonHeader[:len(jsonHeader)-1], "")},
	{"not UTF-8", "closed", rawFrame(-1, -1, strings.Replace(jsonHeader, "Base", "\xff\xfe", 1), "")},
	{"no code", "3", rawFrame(-1, -1, `{"opaque":7,"version":513}`, "")},
	{"code of another type", "closed", rawFrame(-1, -1, `{"code":{},"opaque":7}`, "")},
	{"code beyond 32 bits", "closed", rawFrame(-1, -1, `{"code":2147483648,"opaque":7}`, "")},
	{"fields null", "17", rawFrame(-1, -1, `{"code":105,"opaque":7,"extFields":null}`, "")},
	{"fields a list", "closed", rawFrame(-1, -1, `{"code":105,"opaque":7,"extFields":["topic"]}`, "")},
	{"values that are no text", "17", rawFrame(-1, -1, `{"code":105,"opaque":7,"version":513,"extFields":{"topic":12,"a":true,"b":null,"c":{"d":[1]}}}`, "")},
	{"binary zeroes", "3", rawFrame(-1, 1<<24|21, strings.Repeat("\x00", 21), "")},
	{"binary, fields longer than the header", "closed", rawFrame(-1, 1<<24|21, strings.Repeat("\x00", 17)+"\x7f\xff\xff\xff", "")},
	{"binary, remark of -1 bytes", "closed", rawFrame(-1, 1<<24|21, strings.Repeat("\x00", 13)+"\xff\xff\xff\xff\x00\x00\x00\x00", "")},
	{"binary, a byte short", "closed", rawFrame(-1, 1<<24|20, strings.Repeat("\x00", 20), "")},
}

// Every whole frame, however broken, ends in an answer or a close; nobody else notices.
func TestBrokenFrames(t *testing.T) {
	s := start(t)
	good := s.dial()
	good.register(broker("a"))
	for _, tt := range brokenFrames {
		t.Run(tt.name, func(t *testing.T) {
			end := ""
			p := s.pipe()
			answers, err := p.Feed(tt.frame)
			switch a, badAnswer := readAnswer(strings.NewReader(string(answers))); {
			case err != nil:
				end = "closed"
			case len(answers) > 0 && badAnswer == nil:
				end = fmt.Sprint(a.code)
			case len(answers) > 0:
				t.Fatalf("%q: %v", answers, badAnswer)
			}
			if end != tt.end {
				t.Errorf("%q (%v), want %s", end, err, tt.end)
			}
		})
	}
	for _, tt := range brokenFrames { // over a socket, all at once beside correct ones
		c := s.dial()
		if _, err := c.conn.Write(tt.frame); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		good.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
		if tt.end == "closed" {
			c.wantClosed()
		}
		c.close()
	}
	eventually(t, "their ends", func() bool { return s.net.ConnCount() == 1 })
	good.wantRoute("Base", "a{0=a:10911} 4/4/6/0")
}

// A frame that is cut, at whichever byte, holds what has come of it and ends at its deadline.
func TestCutFrameEndsAtItsDeadline(t *testing.T) {
	s := start(t)
	for _, whole := range [][]byte{routeOf("Base").frame(1), broker("a").request().frame(1)} {
		for cut := 1; cut < len(whole); cut += 1 + cut/20 {
			p := s.pipe()
			if answers, err := p.Feed(whole[:cut]); err != nil || len(answers) > 0 {
				t.Fatalf("%d of %d bytes: %q, %v", cut, len(whole), answers, err)
			}
			var err error
			seconds := 0
			for ; err == nil && seconds < 200; seconds++ {
				s.clock.now.Add(int64(time.Second) - 1) // more at once would be a standstill
				_, err = p.Tick()
			}
			if err == nil || seconds < 58 || seconds > 125 {
				t.Fatalf("%d of %d bytes: ended after %d s for %v", cut, len(whole), seconds, err)
			}
		}
	}
}

// Bodies that say more than they hold, or what no broker says, are refused with code 1 and change nothing.
func TestLyingBodies(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.register(broker("a"))
	state := func() string {
		return fmt.Sprint(c.call(ask(codec.RequestGetBrokerClusterInfo)), c.call(ask(codec.RequestGetAllTopicListFromNameserver)),
			c.call(routeOf("Base")), c.call(routeOf("T")), s.table.Load().Brokers())
	}
	before := state()
	refused := func(name string, r request) {
		t.Helper()
		if a := c.call(r); a.code != codec.ResponseSystemError || a.remark == nil {
			t.Errorf("%s: %s, want code 1 with a remark", name, a)
		}
		if after := state(); after != before {
			t.Fatalf("%s: the table has changed\nfrom %s\nto   %s", name, before, after)
		}
	}
	table := func(topic string) string {
		return `{"topicConfigSerializeWrapper":{"dataVersion":{"counter":9},"topicConfigTable":{"Pad":{"topicName":"Pad","perm":6},` + topic + `}}}`
	}
	for _, number := range []string{"1e999999999", "-1e999999999", "2147483648", "-2147483649", "0x6", "+6", "6.", ".6", "6e", "-", "--6", "NaN", "Infinity", "6 6",
		"true", "[6]", `"six"`, `"0x6"`, "6" + strings.Repeat("0", 100_000), "1e" + strings.Repeat("9", 100_000)} {
		refused("perm "+short(number), broker("a").counter(9).raw(table(`"T":{"topicName":"T","perm":`+number+`}`)).request())
	}
	for _, topic := range []string{`T:{"perm":6}`, `'T':{"perm":6}`, `"T"{"perm":6}`, `"T":{"perm":6`, `"T":[]`, `"T":6`, `"T":{"perm":6}}`, `"T\x":{}`, `"\ud800`} {
		refused(topic, broker("a").counter(9).raw(table(topic)).request())
	}
	mapping := func(text string) string {
		return `{"topicConfigSerializeWrapper":{"dataVersion":{"counter":9},"topicConfigTable":{"T":{},"Pad":{}},"topicQueueMappingInfoMap":{"T":{` + text + `}}}}`
	}
	for _, text := range []string{`"currIdMap":{a:1}`, `"currIdMap":{-2147483649:1}`, `"currIdMap":{2147483648:1}`, `"currIdMap":{1:9e99}`, `"currIdMap":{1.5:1}`,
		`"currIdMap":{99999999999999999999999999:1}`, `"currIdMap":{:1}`, `"currIdMap":{"1:1}`, `"epoch":1e400`} {
		refused(text, broker("a").counter(9).raw(mapping(text)).request())
	}
	int32s := func(numbers ...int32) (text string) {
		for _, n := range numbers {
			text += string(binary.BigEndian.AppendUint32(nil, uint32(n)))
		}
		return text
	}
	const version = `{"counter":9}`
	head := int32s(int32(len(version))) + version
	const line = "T 4 4 6 SINGLE_TAG"
	topic := int32s(int32(len(line))) + line
	for name, plain := range map[string]string{
		"nothing":                      "",
		"version of -1 bytes":          int32s(-1),
		"version of 2 GiB":             int32s(1<<31-1) + version,
		"version longer than the rest": int32s(int32(len(version))+1) + version,
		"-1 topics":                    head + int32s(-1),
		"2^31-1 topics":                head + int32s(1<<31-1),
		"2^31-1 topics, one there":     head + int32s(1<<31-1) + topic,
		"two topics, one there":        head + int32s(2) + topic,
		"a topic of -1 bytes":          head + int32s(1, -1),
		"a topic of 2 GiB":             head + int32s(1, 1<<31-1) + topic,
		"numbers that are none":        head + int32s(1, int32(len(line))) + "T x 4 6 SINGLE_TAG" + int32s(2) + "[]" + int32s(0),
		"filter servers of -1 bytes":   head + int32s(1) + topic + int32s(-1),
		"-1 mappings":                  head + int32s(1) + topic + int32s(2) + "[]" + int32s(-1),
		"2^31-1 mappings":              head + int32s(1) + topic + int32s(2) + "[]" + int32s(1<<31-1),
		"a mapping of 2 GiB":           head + int32s(1) + topic + int32s(2) + "[]" + int32s(1, 1<<31-1),
	} {
		for _, marked := range []string{"true", "false"} {
			refused(name+", compressed="+marked, broker("a").counter(9).set("compressed", marked).raw(zlibOf(t, plain)).request())
		}
	}
	bomb := zlibOf(t, head+int32s(1, 1<<30)+strings.Repeat("\x00", 80<<20))
	refused("80 MiB in "+fmt.Sprint(len(bomb)>>10)+" KiB", broker("a").counter(9).set("compressed", "true").raw(bomb).request())
	for _, body := range []string{"{", "[]", "7", `{"queueDatas":{}}`, `{"queueDatas":[7]}`, `{"queueDatas":[{"brokerName":"a","perm":1e99}]}`,
		`{"queueDatas":[{"brokerName":"a","readQueueNums":2147483648}]}`, strings.Repeat("[", 1<<20)} {
		refused("217 "+short(body), ask(codec.RequestRegisterTopicInNamesrv, "topic", "T").with(body))
	}
	// Without the lies they are taken.
	two := head + int32s(2) + topic + int32s(int32(len(line))) + strings.Replace(line, "T", "U", 1) + int32s(2) + "[]" + int32s(0)
	c.want(broker("a").counter(9).set("compressed", "true").raw(zlibOf(t, two)).request(), "0 {}")
	c.want(broker("b").raw(table(`"T":{"topicName":"T","perm":6}`)).request(), "0 {}")
	c.want(broker("b").counter(9).raw(mapping(`"currIdMap":{1:1}`)).request(), "0 {}")
}
