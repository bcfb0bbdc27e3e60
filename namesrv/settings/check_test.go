package settings

import (
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/access"
)

// checked are keys whose text is looked at, with what they take and what not.
var checked = []struct {
	key       string
	good, bad []string
}{
	{"bindAddress",
		[]string{"0.0.0.0", "127.0.0.1", "::", "::1", "fe80::1%eth0", "localhost", "ns-1.example.com", "ns_1", "a.b.", "10.0.0.1a"},
		[]string{"256.1.1.1", "1.2.3", "1.2.3.4.5", "127.0.0.1:9876", "[::1]", "a b", "-a", "a-", "a..b", ".", "*", "a/b", strings.Repeat("a", 64), strings.Repeat("a.", 127)}},
	{"eventLoops", []string{"0", "256"}, []string{"257", "1024", "-1"}},
	{"waitSecondsForService", []string{"-1", "0", "86400"}, []string{"86401", "2147483647"}},
	{"shutdownWaitTimeSeconds", []string{"-2147483648", "86400"}, []string{"86401"}},
	{"logLevel", []string{"debug", "INFO", "warn", "error"}, []string{"", "trace", "info+1", "0"}},
	{"logFormat", []string{"text", "JSON"}, []string{"", "xml"}},
	{"adminAllowList", []string{"", "10.0.0.0/8, ::1"}, []string{"localhost", "10.0.0.1/8", "10.0.0.1:9876"}},
	{"brokerAllowList", []string{"", "10.0.0.1"}, []string{"x"}},
	{"adminAllowListMode", []string{"enforce", "Observe"}, []string{"", "off"}},
	{"brokerAllowListMode", []string{"observe"}, []string{"no"}},
	{"readOnlyMode", []string{"observe"}, []string{"true"}},
	{"auditLogMaxMegabytes", []string{"1"}, []string{"0"}},
	{"maxMissesPerSecondPerAddress", []string{"0", "1000000"}, []string{"-1", "1000001"}},
}

// What would fail at the next start is refused when it is set, and named with file and line at the start.
func TestCheckedTexts(t *testing.T) {
	for _, c := range checked {
		for _, good := range c.good {
			file := writeConfig(t, "# one\n"+c.key+"="+good+"\n")
			if _, _, err := Load(Env{}, file); err != nil {
				t.Errorf("%s=%s: %v", c.key, good, err)
			}
		}
		for _, bad := range c.bad {
			file := writeConfig(t, "# one\n"+c.key+"="+bad+"\n")
			if _, _, err := Load(Env{}, file); err == nil || !strings.Contains(err.Error(), file+":2: "+c.key+": ") || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s=%s at start: %v", c.key, bad, err)
			}
			if lookup(c.key).protected {
				continue
			}
			var value *ValueError
			if _, _, err := Default(Env{}).Update([]byte("enableTopicList=false\n" + c.key + "=" + bad)); !errors.As(err, &value) || value.Key != c.key {
				t.Errorf("%s=%s by 318: %v", c.key, bad, err)
			}
		}
	}
}

// What guards the server, and where it writes, can't be changed while it runs, though configBlackList names nothing.
func TestGuardsAreProtected(t *testing.T) {
	file := writeConfig(t, "configBlackList=\n")
	s, _, err := Load(Env{}, file)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"adminAllowList", "adminAllowListMode", "brokerAllowList", "brokerAllowListMode", "readOnly", "readOnlyMode",
		"auditLogPath", "auditLogMaxMegabytes", "auditLogMaxBackups", "logDir",
		"probeAllowList", "maxNewConnectionsPerSecondPerAddress", "maxMissesPerSecondPerAddress",
		"brokerCloseGraceMillis", "expiryGuardPercent", "expiryGuardMaxMillis", "maxInflatedBodyBytes",
		"routeSnapshotPath", "routeSnapshotIntervalMillis", "routeSnapshotGraceMillis", "routeSnapshotMaxAgeMillis",
		"brokerKeepAliveSeconds", "probeIntervalMillis", "probeTimeoutMillis", "probeFailuresToSuspect", "probeRemoves", "probeRemoveAfterMillis", "peerOfflineProbe",
		"peers", "peerListenAddress", "peerAdvertiseAddress", "peerKey", "peerName", "kvSync", "advertiseAddress", "addressServerListen",
		"configBlackList", "configStorePath", "kvConfigPath", "rocketmqHome",
	} {
		for _, spelling := range []string{key + "=", " " + key + " : x", key[:3] + "\\\n " + key[3:] + "=x", "\\u00" + hexOf(key[0]) + key[1:] + "\tx"} {
			if _, _, err := s.Update([]byte("enableTopicList=false\n" + spelling)); !errors.Is(err, ErrBlackList) {
				t.Errorf("%q: %v", spelling, err)
			}
		}
	}
}

func hexOf(b byte) string {
	const digits = "0123456789abcdef"
	return string([]byte{digits[b>>4], digits[b&15]})
}

// The rules are those of the file, and what is saved by 318 has them still.
func TestAccessOfFile(t *testing.T) {
	s, _, err := Load(Env{}, writeConfig(t, "adminAllowList=10.0.0.0/8\nbrokerAllowList=10.1.0.0/16\nbrokerAllowListMode=observe\nreadOnly=true\nreadOnlyMode=Observe\nlogLevel=WARN\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Level() != slog.LevelWarn {
		t.Errorf("level %v", s.Level())
	}
	next, _, err := s.Update([]byte("enableTopicList=false"))
	if err != nil {
		t.Fatal(err)
	}
	saved, _, err := Load(Env{}, writeConfig(t, string(next.FileText())))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Settings{s, saved} {
		r, err := s.Access()
		if err != nil {
			t.Fatal(err)
		}
		inside, outside := netip.MustParseAddr("10.1.1.1"), netip.MustParseAddr("11.1.1.1")
		for _, tt := range []struct {
			group access.Group
			from  netip.Addr
			want  access.Verdict
		}{
			{access.Admin, inside, access.Verdict{By: "readOnly"}},
			{access.Admin, outside, access.Verdict{By: "adminAllowList", Refused: true}},
			{access.Broker, inside, access.Verdict{}},
			{access.Broker, outside, access.Verdict{By: "brokerAllowList"}},
		} {
			if got := r.Judge(tt.group, tt.from); got != tt.want {
				t.Errorf("group %d from %v: %+v, want %+v", tt.group, tt.from, got, tt.want)
			}
		}
	}
	if r, err := Default(Env{}).Access(); r != nil || err != nil {
		t.Errorf("rules by default: %+v, %v", r, err)
	}
	for _, spoil := range []func(*Settings){
		func(s *Settings) { s.AdminAllowList = "x" }, func(s *Settings) { s.BrokerAllowList = "x" }, func(s *Settings) { s.ReadOnlyMode = "x" },
	} {
		s := Default(Env{})
		spoil(s)
		if _, err := s.Access(); err == nil {
			t.Error("settings made by hand aren't looked at")
		}
	}
}
