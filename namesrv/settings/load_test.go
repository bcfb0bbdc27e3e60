package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "namesrv.properties")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestLoad(t *testing.T) {
	file := writeConfig(t, "# a comment\nlistenPort = 19876 \nbogusKey=1\norderMessageEnable=TRUE\n"+
		"kvConfigPath=\\u002ftmp/kv.json\nconfigStorePath=/elsewhere\nconnectTimeoutMillis=500\neventLoops=2\nproductEnvName=\\u4e2d\nrocketmqHome=/from/file\n")
	s, warnings, err := Load(testEnv, file)
	if err != nil {
		t.Fatal(err)
	}
	if s.ListenPort != 19876 || !s.OrderMessageEnable || s.KVConfigPath != "/tmp/kv.json" || s.ConfigStorePath != file ||
		s.ConnectTimeoutMillis != 500 || s.EventLoops != 2 || s.ProductEnvName != "中" || s.RocketmqHome != "/from/file" {
		t.Errorf("got %+v", s)
	}
	if len(warnings) != 1 || warnings[0].String() != file+`:3: "bogusKey": unknown key, kept without effect` {
		t.Errorf("warnings %v", warnings)
	}
	got := listed(t, s.Text())
	for name, value := range map[string]string{"bogusKey": "1", "connectTimeoutMillis": "500", "eventLoops": "2", "configStorePath": file, "productEnvName": "中"} {
		if got[name] != value {
			t.Errorf("%s=%q, want %q", name, got[name], value)
		}
	}
	if len(got) != 43 {
		t.Errorf("%d keys listed, want 40 and the 3 of the file", len(got))
	}
}

func TestLoadWithoutFile(t *testing.T) {
	s, warnings, err := Load(testEnv, "")
	if err != nil || warnings != nil || s.ConfigStorePath != "/home/rmq/namesrv/namesrv.properties" {
		t.Errorf("%v, %v, %v", s, warnings, err)
	}
}

func TestLoadRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"letters for an int", "a=1\n\nlistenPort=x7\n", `:3: listenPort: "x7" is no int`},
		{"nothing for an int", "listenPort=\n", `:1: listenPort: "" is no int`},
		{"int too big", "serverWorkerThreads=2147483648\n", `:1: serverWorkerThreads: "2147483648" is no int`},
		{"port too big", "listenPort=65536\n", `:1: listenPort: 65536 is outside 0 to 65535`},
		{"interval of 0", "scanNotActiveBrokerInterval=0\n", `:1: scanNotActiveBrokerInterval: 0 is outside 1 to 31536000000`},
		{"yes", "clusterTest=yes\n", `:1: clusterTest: "yes" is neither true nor false`},
		{"typo", "orderMessageEnable=ture\n", `:1: orderMessageEnable: "ture" is neither true nor false`},
		{"last of two counts", "listenPort=1\nlistenPort=x\n", `:2: listenPort: "x" is no int`},
		{"controller", "listenPort=1\nenableControllerInNamesrv=true\n", `:2: enableControllerInNamesrv: no controller runs inside this nameserver: start a standalone controller`},
		{"line in a value", `productEnvName=center\nkvConfigPath=/x`, `:1: productEnvName: "center\nkvConfigPath=/x" holds control characters`},
		{"no path", "kvConfigPath=\n", `:1: kvConfigPath: must not be empty`},
		{"bad escape", "a=1\nb=\\u12\n", `:2: malformed \uxxxx`},
		{"peers without an address of our own", "listenPort=1\npeers=ns1\nx=1\n", `:2: peers: peerListenAddress must be set`},
		{"client key", "connectTimeoutMillis=soon\n", `:1: connectTimeoutMillis: "soon" is no int`},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := writeConfig(t, c.text)
			s, _, err := Load(testEnv, file)
			if err == nil || s != nil || !strings.HasPrefix(err.Error(), "settings: "+file+c.want) {
				t.Errorf("got %v, want %s%s", err, file, c.want)
			}
		})
	}
}

func TestLoadAccepts(t *testing.T) {
	for _, c := range []struct {
		name, text string
		check      func(*Settings) bool
	}{
		{"blanks around a number", "listenPort=7 \t\n", func(s *Settings) bool { return s.ListenPort == 7 }},
		{"blank after a bool", "clusterTest=true \n", func(s *Settings) bool { return s.ClusterTest }},
		{"free port", "listenPort=0\n", func(s *Settings) bool { return s.ListenPort == 0 }},
		{"a sign", "waitSecondsForService=+9\n", func(s *Settings) bool { return s.WaitSecondsForService == 9 }},
		{"absurd but harmless", "defaultThreadPoolNums=-1\n", func(s *Settings) bool { return s.DefaultThreadPoolNums == -1 }},
		{"no controller", "enableControllerInNamesrv=false\n", func(s *Settings) bool { return !s.EnableControllerInNamesrv }},
		{"the last of two, the first bad", "listenPort=x\nlistenPort=5\n", func(s *Settings) bool { return s.ListenPort == 5 }},
		{"empty file", "", func(s *Settings) bool { return s.ListenPort == 9876 }},
		{"other case of a key", "listenport=1\n", func(s *Settings) bool { return s.ListenPort == 9876 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _, err := Load(testEnv, writeConfig(t, c.text))
			if err != nil || !c.check(s) {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
}

func TestLoadMissingFile(t *testing.T) {
	_, _, err := Load(testEnv, filepath.Join(t.TempDir(), "absent"))
	if !os.IsNotExist(unwrapAll(err)) {
		t.Errorf("got %v", err)
	}
}

// TestLoadFromBackup: a file that is gone or empty, which is what a full disk or a crash leaves of one that is written in place, is
// replaced by its backup. A wrong text isn't: it may be an operator's.
func TestLoadFromBackup(t *testing.T) {
	const good, none = "bogus=1\nlistenPort=4321\n", "-"
	for _, c := range []struct {
		name, file, backup string
		port               int    // 0: refused
		err                string // begins what is said then
	}{
		{"missing", none, good, 4321, ""},
		{"empty", "", good, 4321, ""},
		{"missing, no backup", none, none, 0, "settings: open $FILE: no such file or directory"},
		{"missing, backup empty", none, "", 0, "settings: open $FILE: no such file or directory"},
		{"missing, backup wrong", none, "a=1\nlistenPort=x\n", 0, "settings: $FILE.bak:2: listenPort: "},
		{"empty, backup wrong", "", "a=1\nlistenPort=x\n", 0, "settings: $FILE.bak:2: listenPort: "},
		{"empty, no backup", "", none, 9876, ""},
		{"empty, backup empty", "", "", 9876, ""},
		{"a comment is a text", "# nothing\n", good, 9876, ""},
		{"good", "listenPort=1\n", good, 1, ""},
		{"wrong", "listenPort=x\n", good, 0, "settings: $FILE:1: listenPort: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "namesrv.properties")
			for path, text := range map[string]string{file: c.file, file + ".bak": c.backup} {
				if text == none {
					continue
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s, warnings, err := Load(testEnv, file)
			if c.port == 0 {
				if want := strings.ReplaceAll(c.err, "$FILE", file); s != nil || err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("got %v, want %s", err, want)
				}
				return
			}
			if err != nil || s.ListenPort != c.port || s.ConfigStorePath != file {
				t.Fatalf("%v; got %+v", err, s)
			}
			if c.port != 4321 {
				if len(warnings) > 0 {
					t.Errorf("warnings %v", warnings)
				}
				return
			}
			if len(warnings) != 2 || !warnings[0].FromBackup || warnings[0].File != file+".bak" || !strings.Contains(warnings[0].Text, file) ||
				warnings[1].FromBackup || warnings[1].File != file+".bak" || warnings[1].Line != 1 {
				t.Errorf("warnings %+v", warnings)
			}
		})
	}
}

func TestSystemProperties(t *testing.T) {
	env := testEnv
	env.Properties = map[string]string{"com.rocketmq.remoting.socket.sndbuf.size": "4096", "com.rocketmq.remoting.client.connect.timeout": "77"}
	s, _, err := Load(env, writeConfig(t, "connectTimeoutMillis=88\n"))
	if err != nil || s.ServerSocketSndBufSize != 4096 || s.ConnectTimeoutMillis != 88 {
		t.Errorf("got %+v, %v", s, err)
	}
	env.Properties["com.rocketmq.remoting.socket.sndbuf.size"] = "big"
	if _, _, err = Load(env, ""); err == nil || !strings.Contains(err.Error(), "socket.sndbuf.size") {
		t.Errorf("got %v", err)
	}
}

// TestUnknownKeyStaysOneLine: what an unknown key holds is the operator's, but
// it can't add a line to the answer or to the saved file.
func TestUnknownKeyStaysOneLine(t *testing.T) {
	s, _, err := Load(testEnv, writeConfig(t, `x=a\nkvConfigPath=/evil`+"\n"+`y\nz=1`+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := listed(t, s.Text())
	if got["x"] != `a\nkvConfigPath=/evil` || got[`y\nz`] != "1" || got["kvConfigPath"] != "/home/rmq/namesrv/kvConfig.json" {
		t.Errorf("got %q", got)
	}
	again, _, err := Load(testEnv, writeConfig(t, string(s.FileText())))
	if err != nil || again.KVConfigPath != s.KVConfigPath || again.listed["x"] != "a\nkvConfigPath=/evil" {
		t.Errorf("read back: %v, %v", again, err)
	}
}
