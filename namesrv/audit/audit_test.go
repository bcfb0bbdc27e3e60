package audit

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var moment = time.Date(2026, 3, 4, 5, 6, 7, 123456789, time.UTC)

func openLog(t *testing.T) (l *Log, read func() string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.log")
	l, err := Open(Options{Path: path, MaxMegabytes: 1, Now: func() time.Time { return moment }, Failed: func(err error, _ int) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	return l, func() string {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := l.Close(ctx); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

func TestLines(t *testing.T) {
	l, read := openLog(t)
	ok, no := int32(0), int32(16)
	l.Write(&Record{
		Event: Changed, Code: 100, Name: "PUT_KV_CONFIG", Peer: Peer{From: "10.1.2.3:4711", Conn: 7, Language: "JAVA", Version: 513},
		What: &What{Namespace: "n", Key: "k\n\"\x00"}, Before: Null, After: "v", Result: &ok,
	})
	l.Write(&Record{Event: Refused, Code: 205, Peer: Peer{From: "[::1]:1", Via: "10.0.0.1:2", Conn: 8}, By: "readOnly", Result: &no, Remark: "no", Skipped: 3})
	l.Write(&Record{Event: Changed, Code: 327, Before: map[int32]int{6: 1, 4: 2}, After: map[int32]int{6: 3}})
	want := `{"time":"2026-03-04T05:06:07.123456789Z","event":"change","code":100,"name":"PUT_KV_CONFIG","from":"10.1.2.3:4711","conn":7,"language":"JAVA","version":513,` +
		`"what":{"namespace":"n","key":"k\n\"\u0000"},"before":null,"after":"v","result":0}` + "\n" +
		`{"time":"2026-03-04T05:06:07.123456789Z","event":"refused","code":205,"from":"[::1]:1","via":"10.0.0.1:2","conn":8,"by":"readOnly","result":16,"remark":"no","notWritten":3}` + "\n" +
		`{"time":"2026-03-04T05:06:07.123456789Z","event":"change","code":327,"before":{"4":2,"6":1},"after":{"6":3}}` + "\n"
	if got := read(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if s := l.Stats(); s.Written != 3 || s.Lost != 0 {
		t.Errorf("%+v", s)
	}
}

// Whatever a peer sends is one line, cut to a bounded length, and JSON.
func TestTextsOfPeers(t *testing.T) {
	l, read := openLog(t)
	texts := []string{
		strings.Repeat("a", maxTextBytes), strings.Repeat("a", maxTextBytes+1), strings.Repeat("é", maxTextBytes), "x" + strings.Repeat("😀", maxTextBytes),
		strings.Repeat("\xbf", 2*maxTextBytes), "\xff\xfe", "\u2028\n\r\t\x7f\x1b[2J", "",
	}
	for _, text := range texts {
		l.Write(&Record{Event: Changed, What: &What{Key: Text(text)}, After: Text(text)})
	}
	lines := strings.Split(strings.TrimSuffix(read(), "\n"), "\n")
	if len(lines) != len(texts) {
		t.Fatalf("%d lines of %d records", len(lines), len(texts))
	}
	for i, line := range lines {
		var r struct{ After string }
		if err := json.Unmarshal([]byte(line), &r); err != nil || len(line) > 16*maxTextBytes {
			t.Errorf("%.40q: %d bytes, %v", texts[i], len(line), err)
		}
		whole := strings.ToValidUTF8(texts[i], "\ufffd") == r.After
		if long := len(texts[i]) > maxTextBytes; !long && !whole && texts[i] != "\xff\xfe" || long && !strings.HasSuffix(r.After, " bytes)") {
			t.Errorf("%.40q became %.40q", texts[i], r.After)
		}
	}
	if got := Text(strings.Repeat("é", maxTextBytes)); !strings.HasPrefix(got, strings.Repeat("é", maxTextBytes/2)+"… (2048 bytes)") {
		t.Errorf("cut within a letter: %.20q", got[maxTextBytes-10:])
	}
}

// A record that has no JSON still leaves a line that says so.
func TestUnencodable(t *testing.T) {
	l, read := openLog(t)
	l.Write(&Record{Event: Changed, Code: 100, After: func() {}})
	if got := read(); !strings.Contains(got, `"code":100`) || !strings.Contains(got, "unsupported type") {
		t.Errorf("%s", got)
	}
}

// No file, no records, and nothing to stop.
func TestNilLog(t *testing.T) {
	var l *Log
	l.Write(&Record{})
	if err := l.Close(context.Background()); err != nil || l.Stats().Written != 0 {
		t.Errorf("%v, %+v", err, l.Stats())
	}
}

func TestOpenRefuses(t *testing.T) {
	if _, err := Open(Options{Path: t.TempDir(), MaxMegabytes: 1}); err == nil {
		t.Error("a folder was taken for a file")
	}
}
