//go:build faults && linux

package faults

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// startLimit is how long a start may take that is to fail.
const startLimit = 2 * time.Second

const exitFailed = 255

// TestStartRefused: what keeps the nameserver from starting is one clear line.
func TestStartRefused(t *testing.T) {
	const broken = `{"configTable":{"NS":{"k"`
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, s *site)
		line    []string // what it names
	}{
		{"port taken", func(t *testing.T, s *site) {
			l, err := net.Listen("tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
		}, []string{"$ADDR", "address already in use"}},
		{"address of the HTTP side taken", func(t *testing.T, s *site) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			writeFile(t, s.config, readFile(t, s.config)+"adminListen="+l.Addr().String()+"\n")
		}, []string{"adminListen", "address already in use"}},
		{"configuration file missing", func(t *testing.T, s *site) { remove(t, s.config) },
			[]string{"$CONFIG", "no such file"}},
		{"configuration file is a folder", func(t *testing.T, s *site) {
			remove(t, s.config)
			writeFile(t, s.config+"/file", "")
		}, []string{"$CONFIG", "is a directory"}},
		{"value of the wrong type", func(t *testing.T, s *site) { writeFile(t, s.config, "a=1\n\nlistenPort=98x6\n") },
			[]string{"$CONFIG:3", "listenPort", "98x6"}},
		{"value out of range", func(t *testing.T, s *site) { writeFile(t, s.config, "listenPort=70000\n") },
			[]string{"$CONFIG:1", "listenPort", "70000"}},
		{"address that is none", func(t *testing.T, s *site) { writeFile(t, s.config, "a=1\nbindAddress=256.1.1.1\n") },
			[]string{"$CONFIG:2", "bindAddress", "256.1.1.1"}},
		{"list of addresses with a name", func(t *testing.T, s *site) { writeFile(t, s.config, "a=1\nadminAllowList=10.0.0.1, localhost\n") },
			[]string{"$CONFIG:2", "adminAllowList", "localhost"}},
		{"audit file is a folder", func(t *testing.T, s *site) { writeFile(t, s.config, "auditLogPath="+s.home+"\n") },
			[]string{"no regular file"}},
		{"escape cut short", func(t *testing.T, s *site) { writeFile(t, s.config, "a=1\nb=\\u12\n") },
			[]string{"$CONFIG:2", `\u`}},
		{"KV file broken, no backup", func(t *testing.T, s *site) { writeFile(t, s.kvFile, broken) },
			[]string{"$KV", "there is no backup"}},
		{"KV file and backup broken", func(t *testing.T, s *site) {
			writeFile(t, s.kvFile, broken)
			writeFile(t, s.kvFile+".bak", broken)
		}, []string{"$KV:", "$KV.bak:", "neither file nor backup"}},
		{"KV file is a folder", func(t *testing.T, s *site) { writeFile(t, s.kvFile+"/file", "") },
			[]string{"$KV", "is a directory"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			c.prepare(t, s)
			p := s.launch()
			p.wantExit(exitFailed, startLimit)
			stderr := p.stderr.String()
			if n := strings.Count(stderr, "\n"); n != 1 || p.stdout.has("boot success") {
				t.Errorf("%d lines on stderr, want 1", n)
			}
			names := strings.NewReplacer("$ADDR", s.addr, "$CONFIG", s.config, "$KV", s.kvFile)
			for _, want := range c.line {
				if want = names.Replace(want); !strings.Contains(stderr, want) {
					t.Errorf("stderr does not say %q", want)
				}
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// TestStartFromBackup: a KV file that was cut is replaced by its backup, which is
// said and outlives the next change.
func TestStartFromBackup(t *testing.T) {
	const whole, backup = `{"configTable":{"NS":{"k":"new"}}}`, `{"configTable":{"NS":{"k":"old"}}}`
	get := ask(codec.RequestGetKVConfig, "namespace", "NS", "key", "k")
	for name, text := range map[string]string{"half": whole[:len(whole)/2], "empty": "", "zeroes": string(make([]byte, len(whole)))} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			writeFile(t, s.kvFile, text)
			writeFile(t, s.kvFile+".bak", backup)
			p := s.start()
			if stderr := p.stderr.String(); !strings.Contains(stderr, "level=ERROR") || !strings.Contains(stderr, s.kvFile+".bak") {
				t.Errorf("the backup is not mentioned")
			}
			c := s.dial()
			if v := c.want(codec.ResponseSuccess, get).ExtFields["value"]; v != "old" {
				t.Errorf("value %q, want the backup's", v)
			}
			c.want(codec.ResponseSuccess, ask(codec.RequestPutKVConfig, "namespace", "NS", "key", "k2", "value", "v"))
			if got := readFile(t, s.kvFile+".bak"); got != backup {
				t.Errorf("backup holds %q: the broken file went over a good one", got)
			}
			p.stop()

			p = s.start()
			if p.stderr.has("backup") {
				t.Error("the repaired file counts as broken")
			}
			if v := s.dial().want(codec.ResponseSuccess, get).ExtFields["value"]; v != "old" {
				t.Errorf("after a restart value %q", v)
			}
		})
	}
}

// TestFolderGone: a change that can't be saved is refused and changes nothing; as
// soon as it can be saved it is taken.
func TestFolderGone(t *testing.T) {
	s := newSite(t)
	s.start()
	c := s.dial()
	put := func(value string) request {
		return ask(codec.RequestPutKVConfig, "namespace", "NS", "key", "k", "value", value)
	}
	value := func() string {
		return c.want(codec.ResponseSuccess, ask(codec.RequestGetKVConfig, "namespace", "NS", "key", "k")).ExtFields["value"]
	}
	c.want(codec.ResponseSuccess, put("1"))
	folder := s.home + "/namesrv"
	rename(t, folder, folder+".away")
	writeFile(t, folder, "in the way")
	c.want(codec.ResponseSystemError, put("2"))
	if v := value(); v != "1" {
		t.Errorf("value %q after a change that was refused", v)
	}
	remove(t, folder)
	rename(t, folder+".away", folder)
	c.want(codec.ResponseSuccess, put("3"))
	if v := value(); v != "3" {
		t.Errorf("value %q, want 3", v)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}
