package settings

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPeerKeyHidden: the key is kept in the file and shown nowhere, nor in an error; it can't be changed while running.
func TestPeerKeyHidden(t *testing.T) {
	key := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32)))
	s := loadText(t, "peerKey="+key+"\nproductEnvName=a\n")
	if keys, err := s.PeerKeys(); err != nil || len(keys) != 1 || string(keys[0]) != strings.Repeat("k", 32) {
		t.Fatalf("keys %q, %v", keys, err)
	}
	for _, text := range [][]byte{s.Text(), s.AllText()} {
		if bytes.Contains(text, []byte(key)) || !bytes.Contains(text, []byte("peerKey=******\n")) {
			t.Errorf("shown: %s", text)
		}
	}
	for name, value := range s.Listed() {
		if name == "peerKey" && value != "******" {
			t.Errorf("listed: %q", value)
		}
	}
	if again := loadText(t, string(s.FileText())); again.PeerKey != key {
		t.Errorf("the saved file has %q", again.PeerKey)
	}
	if _, _, err := s.Update([]byte("peerKey=" + key)); !errors.Is(err, ErrBlackList) {
		t.Errorf("update: %v", err)
	}
	if err := lookup("peerKey").set(s, "secret,"+key); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}

// TestPeerSettings: what is no address is refused, with the value.
func TestPeerSettings(t *testing.T) {
	for _, c := range []struct{ key, good, bad string }{
		{"peers", "a:1|10.0.0.1:7946;b.example.org:7946,c|[fe80::1]:7|ns-headless.default.svc", "a:0|a:b|:1|a b:1|10.0.0.1:70000"},
		{"peerListenAddress", "0.0.0.0:7946|:7946|127.0.0.1:0|[::]:7946|host:1", "7946|a:b:c|10.0.0:7946|h:-1"},
		{"peerAdvertiseAddress", "10.0.0.1:7946|[fe80::1]:1", "host:1|10.0.0.1|0.0.0.0:1|10.0.0.1:0"},
		{"advertiseAddress", "10.0.0.1|10.0.0.1:9876|[fe80::1]:1", "host|0.0.0.0|10.0.0.1:0|::"},
		{"addressServerListen", ":8080|127.0.0.1:8080", "8080"},
		{"peerKey", "|" + base64.StdEncoding.EncodeToString(make([]byte, 24)), "AAAA|~"},
		{"peerName", "a|", strings.Repeat("x", 256)},
	} {
		for _, v := range strings.Split(c.good, "|") {
			if err := lookup(c.key).set(Default(Env{}), v); err != nil {
				t.Errorf("%s=%s: %v", c.key, v, err)
			}
		}
		for _, v := range strings.Split(c.bad, "|") {
			if err := lookup(c.key).set(Default(Env{}), v); err == nil {
				t.Errorf("%s=%s is taken", c.key, v)
			}
		}
	}
	s := Default(Env{})
	_ = lookup("peers").set(s, " a:1 ; b:2,,c:3;")
	if got := s.PeerList(); !slices.Equal(got, []string{"a:1", "b:2", "c:3"}) {
		t.Errorf("%q", got)
	}
}

func loadText(t *testing.T, text string) *Settings {
	t.Helper()
	file := filepath.Join(t.TempDir(), "namesrv.properties")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, _, err := Load(Env{}, file)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
