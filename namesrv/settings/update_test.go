package settings

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func unwrapAll(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}

func TestUpdate(t *testing.T) {
	s := Default(testEnv)
	before := s.Text()
	next, changes, err := s.Update([]byte("listenPort= 1 \nenableTopicList=false\nenableTopicList=FALSE\nnewKey=1\nproductEnvName=x\xe4\xb8\xadq\nwaitSecondsForService=45\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := []Change{
		{Key: "enableTopicList", Old: "true", New: "false"},
		{Key: "listenPort", Old: "9876", New: "1", NeedsRestart: true},
		{Key: "productEnvName", Old: "center", New: "xä¸\u00adq", NeedsRestart: true},
		{Key: `"newKey"`, New: `"1"`, Ignored: true},
	}
	if !reflect.DeepEqual(changes, want) {
		t.Errorf("changes %+v\nwant %+v", changes, want)
	}
	got := listed(t, next.Text())
	if got["listenPort"] != "1" || got["enableTopicList"] != "false" || got["newKey"] != "" || len(got) != 40 {
		t.Errorf("listed %q", got)
	}
	if !bytes.Equal(s.Text(), before) {
		t.Error("the settings before the update have changed")
	}
}

// TestUpdateRefused: the reason by key, and nothing of the request counts.
func TestUpdateRefused(t *testing.T) {
	s := Default(testEnv)
	for _, c := range []struct {
		name, body string
		want       error
		key        string
	}{
		{"config path", "configStorePath=/x", ErrBlackList, ""},
		{"kv path", "kvConfigPath=/x", ErrBlackList, ""},
		{"list itself", "configBlackList=a", ErrBlackList, ""},
		{"home", "rocketmqHome=/x", ErrBlackList, ""},
		{"blanks before", "  \t configStorePath=/x", ErrBlackList, ""},
		{"colon", "configStorePath : /x", ErrBlackList, ""},
		{"blank", "configStorePath /x", ErrBlackList, ""},
		{"tab", "configStorePath\t/x", ErrBlackList, ""},
		{"form feed", "configStorePath\f/x", ErrBlackList, ""},
		{"no value", "configStorePath", ErrBlackList, ""},
		{"continued key", "config\\\n  StorePath=/x", ErrBlackList, ""},
		{"continued key, CRLF", "config\\\r\nStorePath=/x", ErrBlackList, ""},
		{"continued before the key", "\\\nconfigStorePath=/x", ErrBlackList, ""},
		{"escaped", "\\u0063onfigStorePath=/x", ErrBlackList, ""},
		{"escaped needlessly", "\\configStorePath=/x", ErrBlackList, ""},
		{"carriage returns", "a=1\rconfigStorePath=/x\rb=2", ErrBlackList, ""},
		{"overwritten by a good one", "configStorePath=/x\nlistenPort=1", ErrBlackList, ""},
		{"refused key and bad value", "listenPort=x\nconfigStorePath=/x", ErrBlackList, ""},
		{"refused key and bad escape", "configStorePath=/x\na=\\u00zz", ErrProperties, ""},
		{"bad escape", "a=\\u00zz", ErrProperties, ""},
		{"not a number", "listenPort=abc", nil, "listenPort"},
		{"out of range", "listenPort=65536", nil, "listenPort"},
		{"negative port", "listenPort=-1", nil, "listenPort"},
		{"interval of 0", "scanNotActiveBrokerInterval=0", nil, "scanNotActiveBrokerInterval"},
		{"not a bool", "enableTopicList=yes", nil, "enableTopicList"},
		{"empty number", "listenPort=", nil, "listenPort"},
		{"second line in a value", `productEnvName=center\nkvConfigPath=/x`, nil, "productEnvName"},
		{"carriage return in a value", `productEnvName=a\rb`, nil, "productEnvName"},
		{"NUL in a value", `productEnvName=a\u0000b`, nil, "productEnvName"},
		{"controller", "enableControllerInNamesrv=true", nil, "enableControllerInNamesrv"},
		{"no address", "bindAddress=", nil, "bindAddress"},
		{"ours", "eventLoops=-1", nil, "eventLoops"},
		{"idle time of a second", "serverChannelMaxIdleTimeSeconds=1", nil, "serverChannelMaxIdleTimeSeconds"},
		{"idle time shorter than brokers' silence", "serverChannelMaxIdleTimeSeconds= 29 ", nil, "serverChannelMaxIdleTimeSeconds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			next, changes, err := s.Update([]byte("enableTopicList=false\n" + c.body + "\n"))
			if next != nil || changes != nil {
				t.Fatalf("applied: %+v", changes)
			}
			var value *ValueError
			switch {
			case c.want != nil:
				if !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			case !errors.As(err, &value) || value.Key != c.key || value.Reason == "":
				t.Errorf("got %v, want a value error of %s", err, c.key)
			}
		})
	}
	if !s.EnableTopicList {
		t.Error("a refused request has changed the settings")
	}
}

// TestIdleTimes: what a running server doesn't take is good in a file, and others are good for both.
func TestIdleTimes(t *testing.T) {
	for _, text := range []string{"-1", "0", "30", "2147483647"} {
		if next, _, err := Default(testEnv).Update([]byte("serverChannelMaxIdleTimeSeconds=" + text)); err != nil || listed(t, next.Text())["serverChannelMaxIdleTimeSeconds"] != text {
			t.Errorf("%s: %v", text, err)
		}
	}
	s, _, err := Load(testEnv, writeConfig(t, "serverChannelMaxIdleTimeSeconds=5\n"))
	if err != nil || s.ServerChannelMaxIdleTimeSeconds != 5 {
		t.Fatal(err)
	}
	if next, _, err := s.Update([]byte("enableTopicList=false")); err != nil || next.ServerChannelMaxIdleTimeSeconds != 5 {
		t.Errorf("another key: %v", err)
	}
}

func TestUpdateListedKeys(t *testing.T) {
	s, _, err := Load(testEnv, writeConfig(t, "bogus=old\nconnectTimeoutMillis=500\nconfigBlackList=listenPort; bogus2\nbogus2=x\n"))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("key of the file", func(t *testing.T) {
		next, changes, err := s.Update([]byte("bogus=new \nconnectTimeoutMillis=600"))
		if err != nil || len(changes) != 2 {
			t.Fatalf("%+v, %v", changes, err)
		}
		got := listed(t, next.Text())
		if got["bogus"] != "new " || got["connectTimeoutMillis"] != "600" || next.ConnectTimeoutMillis != 600 || s.ConnectTimeoutMillis != 500 {
			t.Errorf("got %q", got)
		}
		if s.listed["bogus"] != "old" {
			t.Error("the settings before the update have changed")
		}
	})
	t.Run("control characters in a key of the file", func(t *testing.T) {
		var value *ValueError
		if _, _, err := s.Update([]byte(`bogus=a\nb`)); !errors.As(err, &value) || value.Key != "bogus" {
			t.Errorf("got %v", err)
		}
	})
	for _, body := range []string{"listenPort=1", "bogus2=1"} {
		if _, _, err := s.Update([]byte(body)); !errors.Is(err, ErrBlackList) {
			t.Errorf("%s: got %v; the file's configBlackList names it", body, err)
		}
	}
	if _, _, err := s.Update([]byte("kvConfigPath=/x")); !errors.Is(err, ErrBlackList) {
		t.Error("a file without kvConfigPath in its configBlackList opens the KV path")
	}
}

// TestUpdateLikeApache: answered with success and without effect by Apache 5.5.0.
func TestUpdateLikeApache(t *testing.T) {
	s := Default(testEnv)
	for _, body := range []string{"", "# only a comment", "=v", "a=\\", "connectTimeoutMillis=5", "connectTimeoutMillis=abc", "newKey=a\\nb", "listenPort=9876", "configstorepath=/x"} {
		next, _, err := s.Update([]byte(body))
		if err != nil || next != s {
			t.Errorf("%q: got %v, changed %v", body, err, next != s)
		}
	}
	for body, want := range map[string]string{
		`productEnvName=\ud83d\ude00z`:       "😀z",
		`productEnvName=\ud83dz`:             "?z",
		"productEnvName=":                    "",
		"productEnvName= a b\t":              "a b",
		"productEnvName=a\xff\xfeb":          "aï¿½ï¿½b",
		"productEnvName=\xe6\x96\x87":        "æ\u0096\u0087",
		"productEnvName=a\\\n   \\tb":        "a\tb",
		"productEnvName=x\nproductEnvName=y": "y",
	} {
		next, _, err := s.Update([]byte(body))
		if strings.Contains(want, "\t") { // a control character: ours refuses it
			if err == nil {
				t.Errorf("%q accepted", body)
			}
			continue
		}
		if err != nil || next.ProductEnvName != want {
			t.Errorf("%q: got %q, %v, want %q", body, next.ProductEnvName, err, want)
		}
	}
}

func TestUpdateOursIsListedOnceSet(t *testing.T) {
	s := Default(testEnv)
	if bytes.Contains(s.Text(), []byte("orderConfStrict")) {
		t.Error("listed before it was set")
	}
	next, _, err := s.Update([]byte("orderConfStrict=true"))
	if err != nil || !next.OrderConfStrict || !bytes.Contains(next.Text(), []byte("orderConfStrict=true\n")) {
		t.Errorf("%v\n%s", err, next.Text())
	}
}

func TestUpdateReportsFewIgnoredKeys(t *testing.T) {
	var body []byte
	for range 10000 {
		body = append(body, "nobodyKnowsThis=1\n"...)
	}
	_, changes, err := Default(testEnv).Update(body)
	if err != nil || len(changes) != maxIgnoredReported {
		t.Errorf("%d changes, %v", len(changes), err)
	}
}

// TestFileTextReadsBack: what is saved loads as the same settings.
func TestFileTextReadsBack(t *testing.T) {
	file := writeConfig(t, `productEnvName=\ \u4e2d a\\b=c:d`+"\n"+`odd\ key\u0021 = v\n\\`+"\nuseTLS=true\neventLoops=3\nbogus=trailing  \n")
	s, _, err := Load(testEnv, file)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := Load(testEnv, writeConfig(t, string(s.FileText())))
	if err != nil {
		t.Fatal(err)
	}
	again.ConfigStorePath = s.ConfigStorePath
	if !bytes.Equal(again.Text(), s.Text()) || !reflect.DeepEqual(again, s) {
		t.Errorf("got\n%s\nwant\n%s", again.Text(), s.Text())
	}
}

// TestUpdateOfASecret: a key that was meant to be a secret is shown by no change of it, neither as it was nor as it is, nor where it is ignored.
func TestUpdateOfASecret(t *testing.T) {
	s := loadText(t, "peerkey=hidden1\n")
	_, changes, err := s.Update([]byte("peerkey=hidden2\npeerKeys=hidden3\n"))
	if err != nil || len(changes) != 2 {
		t.Fatalf("%+v, %v", changes, err)
	}
	_, _, err = s.Update([]byte("peerkey=hidden4\\u0007\n"))
	if err == nil || strings.Contains(fmt.Sprint(changes, err), "hidden") {
		t.Errorf("%+v, %v", changes, err)
	}
}
