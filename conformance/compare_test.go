package conformance

import (
	"strings"
	"testing"
)

func TestDiffer(t *testing.T) {
	answer := func(change func(*Answer)) *Answer {
		a := &Answer{Flag: 1, Opaque: 7, Body: []byte(`{"brokerAddrs":{0:"a",1:"b"},"list":["x","y"]}`)}
		if change != nil {
			change(a)
		}
		return a
	}
	body := func(s string) *Answer { return answer(func(a *Answer) { a.Body = []byte(s) }) }
	tests := []struct {
		name      string
		want, got *Answer
		exact     bool
		differs   string // part of what is said; "": the same
	}{
		{name: "equal", want: answer(nil), got: answer(nil)},
		{name: "lists and maps have no order", want: answer(nil), got: body(`{"list":["y","x"],"brokerAddrs":{1:"b",0:"a"}}`)},
		{name: "an element is missing", want: answer(nil), got: body(`{"brokerAddrs":{0:"a",1:"b"},"list":["x"]}`), differs: "body"},
		{name: "a key is quoted", want: answer(nil), got: body(`{"brokerAddrs":{"0":"a",1:"b"},"list":["x","y"]}`), differs: "body"},
		{name: "all keys are quoted", want: answer(nil), got: body(`{"brokerAddrs":{"0":"a","1":"b"},"list":["x","y"]}`), differs: "body"},
		{name: "a blank", want: answer(nil), got: body(`{"brokerAddrs":{0:"a",1:"b"}, "list":["x","y"]}`), differs: "spelling"},
		{name: "a member twice", want: body(`{"a":1}`), got: body(`{"a":1,"a":1}`), differs: "spelling"},
		{name: "an escape", want: body(`{"a":"é"}`), got: body(`{"a":"\u00e9"}`), differs: "spelling"},
		{name: "a number in quotes", want: body(`{"a":1}`), got: body(`{"a":"1"}`), differs: "body"},
		{name: "digits in a string are no key", want: body(`{"a":"{0:1,2:3}"}`), got: body(`{"a":"{2:3,0:1}"}`), differs: "body"},
		{name: "whose address answers 304 is free", want: body(`{"brokerAddr":"a:1","topicList":[]}`), got: body(`{"brokerAddr":"b:2","topicList":[]}`)},
		{name: "that there is one is not", want: body(`{"brokerAddr":"a:1","topicList":[]}`), got: body(`{"topicList":[]}`), differs: "body"},
		{name: "text lines have no order", want: body("a=1\nb=2\n"), got: body("b=2\na=1\n")},
		{name: "a text line differs", want: body("a=1\nb=2\n"), got: body("a=1\nb=3\n"), differs: "body"},
		{name: "code", want: answer(nil), got: answer(func(a *Answer) { a.Code = 1 }), differs: "code"},
		{name: "flag", want: answer(nil), got: answer(func(a *Answer) { a.Flag = 0 }), differs: "flag"},
		{name: "header type", want: answer(nil), got: answer(func(a *Answer) { a.Type = 1 }), differs: "type"},
		{name: "opaque", want: answer(nil), got: answer(func(a *Answer) { a.Opaque = 8 }), differs: "opaque"},
		{name: "remark", want: answer(nil), got: answer(func(a *Answer) { a.Remark = "no" }), differs: "remark"},
		{
			name: "a stack is free",
			want: answer(func(a *Answer) { a.Remark = "x.Exception: Failed, org.apache.rocketmq.A.b(A.java:1)" }),
			got:  answer(func(a *Answer) { a.Remark = "x.Exception: Failed, " }),
		},
		{name: "extFields", want: answer(nil), got: answer(func(a *Answer) { a.Ext = map[string]string{"a": ""} }), differs: "extFields"},
		{name: "empty extFields", want: answer(nil), got: answer(func(a *Answer) { a.Ext = map[string]string{} })},
		{name: "empty extFields in a frame", want: answer(nil), got: answer(func(a *Answer) { a.Ext = map[string]string{} }), exact: true, differs: "extFields"},
		{name: "an empty remark in a frame", want: answer(nil), got: answer(func(a *Answer) { a.HasRemark = true }), exact: true, differs: "remark"},
		{name: "silence", want: nil, got: nil},
		{name: "an answer too many", want: nil, got: answer(nil), differs: "no answer"},
		{name: "an answer too few", want: answer(nil), got: nil, differs: "no answer"},
		{name: "closed", want: answer(nil), got: &Answer{Closed: true}, differs: "end of the connection"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := differ(test.want, test.got, test.exact)
			if test.differs == "" && got != "" {
				t.Errorf("differ says %q of answers that are the same", got)
			}
			if !strings.Contains(got, test.differs) || test.differs != "" && got == "" {
				t.Errorf("differ says %q, want something with %q", got, test.differs)
			}
		})
	}
}

func TestParseAnswer(t *testing.T) {
	const good = `{"code":0,"extFields":{"a":"b"},"flag":1,"language":"JAVA","opaque":-3,"remark":"r","serializeTypeCurrentRPC":"JSON","version":513}`
	tests := []struct{ name, header, err string }{
		{"as Apache writes it", good, ""},
		{"a blank", strings.Replace(good, ",", ", ", 1), "compact"},
		{"no language", strings.Replace(good, `"language":"JAVA",`, "", 1), "language"},
		{"no serializeTypeCurrentRPC", strings.Replace(good, `"serializeTypeCurrentRPC":"JSON",`, "", 1), "serializeTypeCurrentRPC"},
		{"no flag", strings.Replace(good, `"flag":1,`, "", 1), "lacks"},
		{"a member of another kind", strings.Replace(good, `"flag":1,`, `"flag":1,"body":"",`, 1), "unknown field"},
		{"a number in extFields", strings.Replace(good, `"b"`, `1`, 1), "cannot unmarshal"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, err := parseAnswer(appendFrame(nil, typeJSON, []byte(test.header), []byte("body")))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want one with %q", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := &Answer{Flag: 1, Opaque: -3, Remark: "r", HasRemark: true, Ext: map[string]string{"a": "b"}, Body: []byte("body")}
			if d := differ(want, a, true); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestBinaryHeader(t *testing.T) {
	h := header{Code: 103, Flag: 1, Opaque: -2, Version: 477, Ext: map[string]string{"brokerName": "b", "haServerAddr": ""}}
	text, err := h.encode(typeBinary)
	if err != nil {
		t.Fatal(err)
	}
	a, err := parseAnswer(appendFrame(nil, typeBinary, text, nil))
	if err != nil {
		t.Fatal(err)
	}
	if d := differ(&Answer{Code: 103, Flag: 1, Type: 1, Opaque: -2, Ext: h.Ext}, a, true); d != "" {
		t.Error(d)
	}
	for n := range text {
		if _, err := parseAnswer(appendFrame(nil, typeBinary, text[:n], nil)); err == nil {
			t.Errorf("a header cut at %d is accepted", n)
		}
	}
}

func TestMerge(t *testing.T) {
	conn := func(n int) *int { return &n }
	a := []Line{{Millis: 0, Conn: conn(0), File: "a"}, {Millis: 50, Conn: conn(1), File: "a"}}
	b := []Line{{Millis: 0, File: "b"}, {Millis: 30, Conn: conn(0), File: "b"}}
	var got []string
	for _, l := range Merge(a, b, 10) {
		s := l.File
		if l.Conn != nil {
			s += string(rune('0' + *l.Conn))
		}
		got = append(got, s)
	}
	if s := strings.Join(got, " "); s != "a0 b b2 a1" {
		t.Errorf("merged to %s", s)
	}
}
