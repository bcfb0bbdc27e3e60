package codec

import (
	"bufio"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"strings"
	"testing"
)

// wantCommand is what a header is expected to say. fields nil: no ext fields.
type wantCommand struct {
	code, flag, opaque, version int32
	language                    Language
	remark                      *string
	fields                      map[string]string
}

func checkCommand(t *testing.T, c *Command, want wantCommand) {
	t.Helper()
	if c.Code != want.code || c.Flag != want.flag || c.Opaque != want.opaque || c.Version != want.version {
		t.Errorf("code %d flag %d opaque %d version %d, want %d %d %d %d",
			c.Code, c.Flag, c.Opaque, c.Version, want.code, want.flag, want.opaque, want.version)
	}
	if c.Language != want.language {
		t.Errorf("language %v, want %v", c.Language, want.language)
	}
	if c.HasRemark != (want.remark != nil) || want.remark != nil && string(c.Remark) != *want.remark {
		t.Errorf("remark %v %q, want %v", c.HasRemark, c.Remark, want.remark)
	}
	if got := fieldsOf(c); (got == nil) != (want.fields == nil) || !maps.Equal(got, want.fields) {
		t.Errorf("ext fields %v, want %v", got, want.fields)
	}
}

func text(s string) *string { return &s }

// One header of each client, as it writes it.
func TestJSONHeaderOfClients(t *testing.T) {
	topic := map[string]string{"topic": "TopicA"}
	for _, tc := range []struct {
		name, header string
		want         wantCommand
	}{
		{
			"Java", `{"code":105,"extFields":{"topic":"TopicA"},"flag":0,"language":"JAVA","opaque":1,"serializeTypeCurrentRPC":"JSON","version":479}`,
			wantCommand{105, 0, 1, 479, LanguageJava, nil, topic},
		},
		{
			"Go", `{"code":105,"language":"GO","version":317,"opaque":7,"flag":0,"remark":"","extFields":{"topic":"TopicA"}}`,
			wantCommand{105, 0, 7, 317, LanguageGo, text(""), topic},
		},
		{
			"Go without fields", `{"code":106,"language":"GO","version":317,"opaque":7,"flag":0,"remark":"","extFields":{}}`,
			wantCommand{106, 0, 7, 317, LanguageGo, text(""), map[string]string{}},
		},
		{
			"C++ with a newline after it", `{"code":105,"extFields":{"AccessKey":"","OnsChannel":"ALIYUN","Signature":"t6dX=","topic":"TopicA"},"flag":0,"language":"CPP","opaque":0,"remark":"","version":63}` + "\n",
			wantCommand{105, 0, 0, 63, LanguageCPP, text(""), map[string]string{"AccessKey": "", "OnsChannel": "ALIYUN", "Signature": "t6dX=", "topic": "TopicA"}},
		},
		{
			"C++ newest", `{"code":105,"extFields":{"topic":"TopicA"},"flag":0,"language":"CPP","opaque":3,"remark":"","version":333}`,
			wantCommand{105, 0, 3, 333, LanguageCPP, text(""), topic},
		},
		{
			"Node", `{"code":105,"language":"JAVA","opaque":2,"flag":0,"version":121,"extFields":{"topic":"TopicA"}}`,
			wantCommand{105, 0, 2, 121, LanguageJava, nil, topic},
		},
		{
			"Node with bare values", `{"code":34,"language":"JAVA","opaque":2,"flag":0,"version":121,"extFields":{"queueId":3,"ratio":1.50,"batch":false,"unit":true,"none":null}}`,
			wantCommand{34, 0, 2, 121, LanguageJava, nil, map[string]string{"queueId": "3", "ratio": "1.50", "batch": "false", "unit": "true"}},
		},
		{
			"Rust", `{"code":105,"language":"RUST","version":474,"opaque":5,"flag":0,"remark":null,"extFields":{"topic":"TopicA"},"serializeTypeCurrentRPC":"JSON"}`,
			wantCommand{105, 0, 5, 474, LanguageRust, nil, topic},
		},
		{
			"Python with a numeric language", `{"code": 105, "language": 3, "version": 317, "opaque": 4, "flag": 0, "extFields": {"topic": "TopicA"}}`,
			wantCommand{105, 0, 4, 317, LanguagePython, nil, topic},
		},
		{
			".NET", `{"code":105,"language":"CPP","version":275,"opaque":6,"flag":0,"remark":null,"extFields":{"topic":"TopicA"},"serializeTypeCurrentRPC":"JSON"}`,
			wantCommand{105, 0, 6, 275, LanguageCPP, nil, topic},
		},
		{
			"broker registration", `{"code":103,"extFields":{"brokerName":"lab-a","clusterName":"LabCluster","brokerAddr":"10.0.0.1:10911","haServerAddr":"10.0.0.1:10912","compressed":"false","bodyCrc32":"1738140759","__ZONE_NAME":"z1","heartbeatTimeoutMillis":"10000","brokerId":"0","enableActingMaster":"true"},"flag":0,"language":"JAVA","opaque":0,"serializeTypeCurrentRPC":"JSON","version":479}`,
			wantCommand{103, 0, 0, 479, LanguageJava, nil, map[string]string{
				"brokerName": "lab-a", "clusterName": "LabCluster", "brokerAddr": "10.0.0.1:10911", "haServerAddr": "10.0.0.1:10912", "compressed": "false",
				"bodyCrc32": "1738140759", "__ZONE_NAME": "z1", "heartbeatTimeoutMillis": "10000", "brokerId": "0", "enableActingMaster": "true",
			}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) { checkCommand(t, parseText(t, SerializeJSON, tc.header), tc.want) })
	}
}

// What a decoder must let pass.
func TestJSONHeaderAccepted(t *testing.T) {
	for _, tc := range []struct {
		name, header string
		want         wantCommand
	}{
		{"empty object", `{}`, wantCommand{}},
		{"blanks everywhere", " {\t\"code\" :\n1 ,\r \"flag\": 2 } \n\t", wantCommand{code: 1, flag: 2}},
		{"unknown members", `{"a":1,"b":"x","c":null,"d":true,"e":{"f":[1,{"g":[]},[[]],{}]},"h":[],"code":5}`, wantCommand{code: 5}},
		{"members that Java also has", `{"type":"REQUEST_COMMAND","responseType":false,"onewayRPC":true,"suspended":true,"body":"AAAA","code":5}`, wantCommand{code: 5}},
		{"repeated member", `{"code":1,"code":2}`, wantCommand{code: 2}},
		{"repeated member, null last", `{"code":1,"code":null}`, wantCommand{}},
		{"repeated extFields", `{"extFields":{"a":"1"},"extFields":{"b":"2"}}`, wantCommand{fields: map[string]string{"b": "2"}}},
		{"repeated extFields, null last", `{"extFields":{"a":"1"},"extFields":null}`, wantCommand{}},
		{"all null", `{"code":null,"extFields":null,"flag":null,"language":null,"opaque":null,"remark":null,"serializeTypeCurrentRPC":null,"version":null}`, wantCommand{}},
		{"numbers as text", `{"code":"105","flag":"2","opaque":"-5","version":"477"}`, wantCommand{code: 105, flag: 2, opaque: -5, version: 477}},
		{"fraction as text", `{"code":"105.9"}`, wantCommand{code: 105}},
		{"empty text for a number", `{"code":""}`, wantCommand{}},
		{"zero fraction", `{"code":105.0}`, wantCommand{code: 105}},
		{"fraction is cut off", `{"code":5.7,"opaque":-5.7}`, wantCommand{code: 5, opaque: -5}},
		{"exponents", `{"code":1e2,"opaque":-1.5E+3,"version":47900000000000e-11}`, wantCommand{code: 100, opaque: -1500, version: 479}},
		{"ends of int32", `{"opaque":2147483647,"flag":-2147483648}`, wantCommand{opaque: 2147483647, flag: -2147483648}},
		{"minus zero", `{"opaque":-0}`, wantCommand{}},
		{"version -1", `{"version":-1}`, wantCommand{version: -1}},
		{"language unknown", `{"language":"ZIG"}`, wantCommand{language: LanguageUnknown}},
		{"language in lower case", `{"language":"java"}`, wantCommand{language: LanguageUnknown}},
		{"language empty", `{"language":""}`, wantCommand{language: LanguageUnknown}},
		{"language number", `{"language":12}`, wantCommand{language: LanguageRust}},
		{"language number past the list", `{"language":14}`, wantCommand{language: LanguageUnknown}},
		{"language huge", `{"language":99999999999999}`, wantCommand{language: LanguageUnknown}},
		{"language negative", `{"language":-1}`, wantCommand{language: LanguageUnknown}},
		{"language boolean", `{"language":true}`, wantCommand{language: LanguageUnknown}},
		{"language object", `{"language":{"a":1}}`, wantCommand{language: LanguageUnknown}},
		{"keys in other letter case", `{"Code":5,"OPAQUE":6,"extfields":{"a":"1"}}`, wantCommand{}},
		{"escaped key", `{"\u0063ode":5,"extFields":{"to\u0070ic":"x"}}`, wantCommand{code: 5, fields: map[string]string{"topic": "x"}}},
		{"single quotes", `{'code':5,'extFields':{'to"pic':'it\'s'}}`, wantCommand{code: 5, fields: map[string]string{`to"pic`: "it's"}}},
		{"comma before the end", `{"code":5,"extFields":{"a":"1",},"x":[1,],}`, wantCommand{code: 5, fields: map[string]string{"a": "1"}}},
		{"empty text stays empty", `{"remark":"","extFields":{"topic":""}}`, wantCommand{remark: text(""), fields: map[string]string{"topic": ""}}},
		{"remark not text", `{"remark":5}`, wantCommand{remark: text("5")}},
		{"empty name", `{"extFields":{"":"v"}}`, wantCommand{fields: map[string]string{"": "v"}}},
		{"numbers as written", `{"extFields":{"a":12345,"b":-0.50,"c":1e3}}`, wantCommand{fields: map[string]string{"a": "12345", "b": "-0.50", "c": "1e3"}}},
		{"nested values", `{"extFields":{"a":{"x":1},"b":[1, 2],"c":{ "s" : "a \" b" , "t":['q q']}, "d":[]}}`,
			wantCommand{fields: map[string]string{"a": `{"x":1}`, "b": `[1,2]`, "c": `{"s":"a \" b","t":['q q']}`, "d": "[]"}}},
		{"all escapes", `{"remark":"\"\\\/\b\f\n\r\t\u0041\u00e9\u4E3B\uD83D\uDE00"}`, wantCommand{remark: text("\"\\/\b\f\n\r\tAé主😀")}},
		{"lone surrogates", `{"remark":"a\ud83db\ude00c\ud83d\u0041\ud83d\ud83d\ude00\ud83d"}`, wantCommand{remark: text("a?b?c?A?😀?")}},
		{"escaped replacement character", `{"remark":"\ufffd"}`, wantCommand{remark: text("\ufffd")}},
		{"raw text beyond ASCII", `{"extFields":{"topic":"主题😀é"}}`, wantCommand{fields: map[string]string{"topic": "主题😀é"}}},
		{"raw control characters", "{\"extFields\":{\"a\":\"x\ny\x01\"}}", wantCommand{fields: map[string]string{"a": "x\ny\x01"}}},
		{"text longer than a word", `{"extFields":{"topic":"abcdefghijklmnop\"qrstuvwxyz\u4e3babcdefghijklmn"}}`,
			wantCommand{fields: map[string]string{"topic": `abcdefghijklmnop"qrstuvwxyz主abcdefghijklmn`}}},
		{"nesting at the limit", `{"x":` + strings.Repeat("[", maxHeaderDepth) + strings.Repeat("]", maxHeaderDepth) + `,"code":1}`, wantCommand{code: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) { checkCommand(t, parseText(t, SerializeJSON, tc.header), tc.want) })
	}
}

// What closes the connection.
func TestJSONHeaderRefused(t *testing.T) {
	many := strings.Repeat(`"a":1,`, MaxExtFields)
	for _, tc := range []struct {
		name, header string
		err          error
	}{
		{"empty", ``, ErrHeaderSyntax},
		{"blanks", ` `, ErrHeaderSyntax},
		{"null", `null`, ErrHeaderSyntax},
		{"array", `[]`, ErrHeaderSyntax},
		{"text", `"x"`, ErrHeaderSyntax},
		{"number", `105`, ErrHeaderSyntax},
		{"byte order mark", "\xef\xbb\xbf{}", ErrHeaderSyntax},
		{"unquoted key", `{code:105}`, ErrHeaderSyntax},
		{"bytes after the object", `{}x`, ErrHeaderSyntax},
		{"two objects", `{}{}`, ErrHeaderSyntax},
		{"no end", `{"code":105`, ErrHeaderSyntax},
		{"no value", `{"code":}`, ErrHeaderSyntax},
		{"no colon", `{"code" 105}`, ErrHeaderSyntax},
		{"no comma", `{"code":105 "flag":0}`, ErrHeaderSyntax},
		{"two commas", `{"code":105,,"flag":0}`, ErrHeaderSyntax},
		{"comma alone", `{,}`, ErrHeaderSyntax},
		{"end of the text missing", `{"remark":"abc`, ErrHeaderSyntax},
		{"quotes of two kinds", `{"remark":"abc'}`, ErrHeaderSyntax},
		{"escape cut off", `{"remark":"\`, ErrHeaderSyntax},
		{"unknown escape", `{"remark":"\q"}`, ErrHeaderSyntax},
		{"short unicode escape", `{"remark":"\u12"}`, ErrHeaderSyntax},
		{"bad unicode escape", `{"remark":"\u12g4"}`, ErrHeaderSyntax},
		{"word cut off", `{"x":tru`, ErrHeaderSyntax},
		{"unknown word", `{"x":undefined}`, ErrHeaderSyntax},
		{"language cut off", `{"language":"JA`, ErrHeaderSyntax},
		{"number with a letter", `{"code":10x}`, ErrHeaderSyntax},
		{"minus alone", `{"code":-}`, ErrHeaderSyntax},
		{"point without digits", `{"code":5.}`, ErrHeaderSyntax},
		{"exponent without digits", `{"code":5e}`, ErrHeaderSyntax},
		{"brackets crossed", `{"x":[{]}}`, ErrHeaderSyntax},
		{"brackets of two kinds", `{"x":[1}`, ErrHeaderSyntax},
		{"nested without key", `{"x":{1}}`, ErrHeaderSyntax},
		{"nested not ended", `{"x":[[1,2]`, ErrHeaderSyntax},
		{"nested two commas", `{"x":[1,,2]}`, ErrHeaderSyntax},
		{"int32 and one", `{"opaque":2147483648}`, ErrHeaderNumber},
		{"int32 below", `{"opaque":-2147483649}`, ErrHeaderNumber},
		{"number of 40 digits", `{"opaque":` + strings.Repeat("9", 40) + `}`, ErrHeaderNumber},
		{"great exponent", `{"opaque":1e10}`, ErrHeaderNumber},
		{"absurd exponent", `{"opaque":1e999}`, ErrHeaderNumber},
		{"out of range as text", `{"opaque":"2147483648"}`, ErrHeaderNumber},
		{"word for a number", `{"code":"abc"}`, ErrHeaderNumber},
		{"blank before a number", `{"code":" 5"}`, ErrHeaderNumber},
		{"blank after a number", `{"code":"5 "}`, ErrHeaderNumber},
		{"boolean for a number", `{"code":true}`, ErrHeaderNumber},
		{"object for a number", `{"code":{}}`, ErrHeaderNumber},
		{"extFields text", `{"extFields":"a"}`, ErrHeaderExtFields},
		{"extFields array", `{"extFields":[]}`, ErrHeaderExtFields},
		{"extFields number", `{"extFields":5}`, ErrHeaderExtFields},
		{"extFields cut off", `{"extFields":`, ErrHeaderExtFields},
		{"extFields not ended", `{"extFields":{"a":"b"`, ErrHeaderSyntax},
		{"too many fields", `{"extFields":{` + many + `"b":2}}`, ErrHeaderFields},
		{"not UTF-8 in a field", "{\"extFields\":{\"topic\":\"a\xffb\"}}", ErrHeaderUTF8},
		{"not UTF-8 in a key", "{\"a\xff\":1}", ErrHeaderUTF8},
		{"not UTF-8 in what is skipped", "{\"x\":{\"y\":[\"\xc3\x28\"]}}", ErrHeaderUTF8},
		{"surrogate in UTF-8", "{\"remark\":\"\xed\xa0\x80\"}", ErrHeaderUTF8},
		{"UTF-8 cut off", "{\"remark\":\"\xe4\xb8\"}", ErrHeaderUTF8},
		{"bytes from 0x80 outside text", "{\xa0}", ErrHeaderSyntax},
		{"nesting past the limit", `{"x":` + strings.Repeat("[", maxHeaderDepth+1), ErrHeaderDepth},
		{"a megabyte of brackets", strings.Repeat("[", 1<<20), ErrHeaderSyntax},
		{"a megabyte of brackets inside", `{"extFields":{"x":` + strings.Repeat(`{"a":[`, 1<<18), ErrHeaderDepth},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var c Command
			if err := c.Parse(Frame{Header: []byte(tc.header)}); !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
		})
	}
}

func TestJSONHeaderMostFields(t *testing.T) {
	c := parseText(t, SerializeJSON, `{"extFields":{`+strings.Repeat(`"a":1,`, MaxExtFields-1)+`"b":2}}`)
	if v, ok := c.Int64("b"); !ok || v != 2 {
		t.Errorf("the last of %d fields: %d, %v", MaxExtFields, v, ok)
	}
}

// Headers that Apache 5.5.0 was asked with, and what its answers say of them.
func TestJSONHeaderRecorded(t *testing.T) {
	file, err := os.Open("testdata/headers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	n := 0
	for lines := bufio.NewScanner(file); lines.Scan(); n++ {
		var line struct {
			Header                      string
			Code, Flag, Version, Opaque int32
			Remark                      *string
			Fields                      map[string]string
			Want                        struct {
				Code, Opaque int32
				Remark       string
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		var c Command
		if err := c.Parse(Frame{Header: []byte(line.Header)}); err != nil {
			t.Errorf("%v: %s", err, line.Header)
			continue
		}
		checkCommand(t, &c, wantCommand{line.Code, line.Flag, line.Opaque, line.Version, c.Language, line.Remark, line.Fields})
		if c.Opaque != line.Want.Opaque {
			t.Errorf("opaque %d, Apache echoed %d", c.Opaque, line.Want.Opaque)
		}
		if remark, ok := remarkFor(&c, line.Want.Code); ok && remark != line.Want.Remark {
			t.Errorf("remark %q, Apache's %q: %s", remark, line.Want.Remark, line.Header)
		}
	}
	if n != 300 {
		t.Errorf("%d headers tested", n)
	}
}

// remarkFor builds the remark of those answers that repeat what was asked.
func remarkFor(c *Command, answer int32) (string, bool) {
	field := func(name string) string {
		if v, ok := c.Field(name); ok {
			return string(v)
		}
		return "null"
	}
	switch answer {
	case ResponseTopicNotExist:
		return "No topic route info in name server for the topic: " + field("topic") +
			"\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.", true
	case ResponseQueryNotFound:
		return "No config item, Namespace: " + field("namespace") + " Key: " + field("key"), true
	case ResponseRequestCodeNotSupported:
		return " request type 9998 not supported", c.Code == 9998
	}
	return "", false
}
