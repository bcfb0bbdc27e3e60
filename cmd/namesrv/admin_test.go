package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/admin"
)

// fakeAdmin stands in for the HTTP side.
type fakeAdmin struct {
	err    error // of Listen
	asked  []string
	closed int
}

func (f *fakeAdmin) listen(o admin.Options) (adminServer, error) {
	f.asked = append(f.asked, o.Addr)
	if f.err != nil {
		return nil, f.err
	}
	return f, nil
}

func (f *fakeAdmin) Addr() string { return "127.0.0.1:9870" }
func (f *fakeAdmin) Serve() error { return nil }
func (f *fakeAdmin) Close()       { f.closed++ }

// The default address is tried, one that was chosen is insisted upon, and off is off.
func TestAdminListen(t *testing.T) {
	taken := errors.New("admin: address already in use")
	for _, tt := range []struct {
		name, config string
		err          error // of Listen
		asked        string
		exit         int
		stderr       string // "": nothing
	}{
		{"default", "", nil, "127.0.0.1:9870", exitOK, ""},
		{"default taken", "", taken, "127.0.0.1:9870", exitOK, "level=WARN"},
		{"chosen", "adminListen=127.0.0.1:9999\n", nil, "127.0.0.1:9999", exitOK, ""},
		{"chosen taken", "adminListen=127.0.0.1:9999\n", taken, "127.0.0.1:9999", exitFailed, taken.Error()},
		{"default chosen and taken", "adminListen=127.0.0.1:9870\n", taken, "127.0.0.1:9870", exitFailed, taken.Error()},
		{"off", "adminListen=off\n", taken, "", exitOK, ""},
		{"0", "adminListen=0\n", taken, "", exitOK, ""},
		{"empty", "adminListen=\n", taken, "", exitOK, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			side := &fakeAdmin{err: tt.err}
			got := startWith(t, &fakeServer{}, side, nil, "-c", writeConfig(t, tt.config))
			if strings.Join(side.asked, " ") != tt.asked || got.exit != tt.exit {
				t.Errorf("listened on %q, exit %d; want %q, %d; %s", side.asked, got.exit, tt.asked, tt.exit, got.stderr)
			}
			lines := strings.Count(strings.ReplaceAll(got.stderr, "level=INFO msg=stopping", ""), "level=WARN") + strings.Count(got.stderr, taken.Error()+"\n")
			if want := min(len(tt.stderr), 1); lines != want || !strings.Contains(got.stderr, tt.stderr) {
				t.Errorf("stderr %q, want %q in %d lines", got.stderr, tt.stderr, want)
			}
			if listened := tt.err == nil && tt.asked != ""; side.closed == 1 != listened {
				t.Errorf("closed %d times", side.closed)
			}
		})
	}
}

// A start that fails says so in one line, also when the default address of the HTTP side is taken: by the same neighbour, likely.
func TestFailedStartWithTakenAdminIsOneLine(t *testing.T) {
	side := &fakeAdmin{err: errors.New("admin: taken")}
	got := startWith(t, &fakeServer{startErr: errors.New("namesrv: taken")}, side, nil)
	if got.exit != exitFailed || got.stderr != "namesrv: taken\n" {
		t.Errorf("exit %d, %q", got.exit, got.stderr)
	}
}
