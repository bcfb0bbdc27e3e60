package nsctl

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/tlsconfig"
)

// Through TLS the same is told; a certificate that nobody we trust has signed is refused unless it is to be taken.
func TestTLS(t *testing.T) {
	properties, err := tlsconfig.Read(map[string]string{"tls.config.file": filepath.Join(t.TempDir(), "none")}, func(string) string { return "test" })
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := tlsconfig.Open(properties, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	a := startWith(t, certificate)
	a.register("broker-a", "Orders")
	if got := run(t, "diff", "--settle", "1ms", a.Addr(), a.Addr(), "--tls", "--tls-skip-verify"); got.code != exitOK {
		t.Errorf("%+v", got)
	}
	if got := run(t, "diff", "--settle", "1ms", a.Addr(), a.Addr(), "--tls"); got.code != exitFailed || !strings.Contains(got.stderr, "certificate") {
		t.Errorf("%+v", got)
	}
}

// An HTTP side at the default place is taken only if it is the nameserver's own: another's would tell of, or drain, another.
func TestDefaultSideMustBeTheNameservers(t *testing.T) {
	a, b := start(t), start(t)
	tool := &tool{flags: flags{timeout: waitLimit}, sidePort: portOf(a.side)}
	if _, s, err := tool.httpSide(t.Context(), a.Addr(), 0, 1); err != nil || s.State != "serving" {
		t.Errorf("its own: %+v, %v", s, err)
	}
	if _, _, err := tool.httpSide(t.Context(), b.Addr(), 0, 1); err == nil || !strings.Contains(err.Error(), "not of "+b.Addr()) {
		t.Errorf("another's: %v", err)
	}
	tool.flags.admin = a.side
	if _, _, err := tool.httpSide(t.Context(), b.Addr(), 0, 1); err != nil {
		t.Errorf("one that was chosen: %v", err)
	}
}

// Who is told that there is no HTTP side at the default place is told how to name another; who has named one isn't.
func TestHowToNameTheSide(t *testing.T) {
	for admin, want := range map[string]bool{"": true, "127.0.0.1:1": false} {
		tool := &tool{flags: flags{timeout: waitLimit, admin: admin}, sidePort: "1"}
		if _, _, err := tool.httpSide(t.Context(), "127.0.0.1:2", 0, 1); err == nil || strings.Contains(err.Error(), "--admin") != want {
			t.Errorf("--admin %q: %v", admin, err)
		}
	}
}
