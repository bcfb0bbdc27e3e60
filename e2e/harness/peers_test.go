package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPeersPinTheirVersion: the version that the table of results shows is the one that is fetched.
func TestPeersPinTheirVersion(t *testing.T) {
	for _, p := range OtherLanguages("../..") {
		pin, err := os.ReadFile(filepath.Join(p.folder, p.files[0]))
		if err != nil {
			t.Error(err)
		} else if !strings.Contains(string(pin), p.Version) {
			t.Errorf("%s: %s doesn't pin %s", p.Name, p.files[0], p.Version)
		}
	}
}

// scriptPeer is a peer in the shell, whose build makes built.sh.
func scriptPeer(t *testing.T, script string, p Peer) *Peer {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	peers := t.TempDir()
	if err := os.Mkdir(filepath.Join(peers, "script"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(peers, "script", "source.sh"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	p.folder, p.files, p.start = "script", []string{"source.sh"}, []string{"sh", "./built.sh"}
	p.place(peers)
	return &p
}

var (
	shell      = []string{"sh", "-c", "echo shell"}
	buildShell = [][]string{{"cp", "source.sh", "built.sh"}}
)

// TestPeerRuns: a peer is built in the cache and runs from there in its home, with its arguments.
func TestPeerRuns(t *testing.T) {
	p := scriptPeer(t, `echo "args $*"; echo noise >&2; pwd; echo "$HOME"`, Peer{tool: shell, build: buildShell})
	home := t.TempDir()
	out, err := p.Run(home, "127.0.0.1:1", "T", "5")
	if want := "args 127.0.0.1:1 T 5\n" + home + "\n" + home + "\n"; err != nil || out != want {
		t.Errorf("got %q, error %v, want %q", out, err, want)
	}
}

// TestPeerFails: the error of a peer that fails shows all that it printed.
func TestPeerFails(t *testing.T) {
	p := scriptPeer(t, "echo half done; echo the reason >&2; exit 1", Peer{tool: shell, build: buildShell})
	_, err := p.Run(t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "half done\nthe reason") {
		t.Errorf("error %v", err)
	}
}

// TestPeerCannotBePrepared: a missing tool is told apart from a build that fails.
func TestPeerCannotBePrepared(t *testing.T) {
	const missing = "no-such-tool-anywhere"
	for _, c := range []struct {
		name    string
		peer    Peer
		missing bool
	}{
		{"no tool", Peer{tool: []string{missing}, build: buildShell}, true},
		{"tool without a part", Peer{tool: []string{"sh", "-c", "exit 1"}, build: buildShell}, true},
		{"no tool to build", Peer{tool: shell, build: [][]string{{missing}}}, true},
		{"build fails", Peer{tool: shell, build: [][]string{{"sh", "-c", "exit 1"}}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := scriptPeer(t, "", c.peer).Prepare()
			if err == nil || errors.Is(err, ErrToolMissing) != c.missing {
				t.Errorf("error %v, missing tool: %v", err, c.missing)
			}
		})
	}
}
