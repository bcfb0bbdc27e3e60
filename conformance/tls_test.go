package conformance

import (
	"crypto/tls"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/namesrv/tlsconfig"
)

// insideTLS is our server, asked through TLS.
type insideTLS struct{ *ours }

func (t insideTLS) Dial() (net.Conn, error) {
	d := &net.Dialer{Timeout: answerWait}
	return tls.DialWithDialer(d, "tcp", t.Addr(), &tls.Config{InsecureSkipVerify: true})
}

// TestScenariosInsideTLS: the same frames inside TLS get the same answers, the end of a connection included.
func TestScenariosInsideTLS(t *testing.T) {
	if foreign() {
		t.Skip("the server under test isn't ours")
	}
	for _, name := range []string{
		"default/scenario-001", "default/scenario-002", "default/scenario-024", "headers/headers-001", "bodies/bodies-001",
		"acting-order/scenario-101", "delete-missing/scenario-201",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := tlsconfig.Read(map[string]string{"tls.server.mode": "enforcing", "tls.config.file": filepath.Join(t.TempDir(), "none")},
				func(string) string { return "test" })
			if err != nil {
				t.Fatal(err)
			}
			source, err := tlsconfig.Open(p, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			folder, _, _ := strings.Cut(name, "/")
			o, err := startOursWith(scenarioConfigs[folder], source)
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			reportAll(t, PlayScenario(name, readSteps(t, filepath.Join("testdata/scenarios", name+".jsonl")), insideTLS{o}, options()))
		})
	}
}
