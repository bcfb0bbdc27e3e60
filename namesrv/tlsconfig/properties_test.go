package tlsconfig

import (
	"os"
	"strings"
	"testing"
)

func TestReadDefaults(t *testing.T) {
	p, err := Read(map[string]string{fileProperty: t.TempDir() + "/none"}, func(string) string { return "JAVA_OPT" })
	if err != nil {
		t.Fatal(err)
	}
	if p.Mode != Permissive || !p.TestMode || p.VerifyClient || p.ClientAuth != AuthNone || p.CertPath+p.KeyPath+p.TrustCertPath != "" {
		t.Errorf("got %+v", p)
	}
}

func TestReadModes(t *testing.T) {
	for text, want := range map[string]Mode{
		"": Permissive, "disabled": Disabled, "permissive": Permissive, "enforcing": Enforcing, " enforcing ": Enforcing,
		"Enforcing": Permissive, "on": Permissive, // Apache's way with what it doesn't know
	} {
		p, err := Read(map[string]string{modeProperty: text, fileProperty: t.TempDir() + "/none"}, func(string) string { return "JAVA_OPT" })
		if err != nil || p.Mode != want {
			t.Errorf("%q: %v (%v), want %v", text, p.Mode, err, want)
		}
		unknown := text == "Enforcing" || text == "on"
		warned := strings.Contains(strings.Join(p.warnings, "\n"), `"`+text+`" (JAVA_OPT)`)
		if warned != unknown {
			t.Errorf("%q: warnings %q", text, p.warnings)
		}
	}
}

// The file counts before system properties, but for the two that it can't hold.
func TestReadFile(t *testing.T) {
	s := newSite(t, issue(t, "a", nil))
	s.system[clientAuthProperty] = "none"
	s.system[modeProperty] = "enforcing"
	s.write(s.config, []byte(`# comment
tls.test.mode.enable = FALSE
tls.server.need.client.auth=Require
tls.server.authClient=True
tls.server.trustCertPath=`+s.trust+`
tls.server.mode=disabled
tls.config.file=/elsewhere
tls.client.certPath=of no meaning here
tls.server.certPath=/first
tls.server.certPath=`+"/se\\\n   cond"+`
`))
	p, err := s.read()
	if err != nil {
		t.Fatal(err)
	}
	if p.Mode != Enforcing || p.TestMode || p.ClientAuth != AuthRequire || !p.VerifyClient || p.TrustCertPath != s.trust {
		t.Errorf("got %+v", p)
	}
	if p.CertPath != "/second" || p.KeyPath != s.key {
		t.Errorf("certificate %q, key %q", p.CertPath, p.KeyPath)
	}
	if len(p.warnings) != 1 || !strings.Contains(p.warnings[0], modeProperty+" in "+s.config+":6") {
		t.Errorf("warnings %q", p.warnings)
	}
	if from := p.found[certPathProperty].from; from != s.config+":10" {
		t.Errorf("certificate from %q", from)
	}
	if from := p.found[keyPathProperty].from; from != "JAVA_OPT" {
		t.Errorf("key from %q", from)
	}
}

// A certificate that is required and not looked at is Apache's way, and hardly what was meant.
func TestCertificatesThatKeepNobodyOut(t *testing.T) {
	for _, tt := range []struct {
		testMode, auth, verify string
		says                   string // "": no warning
	}{
		{"false", "require", "false", "any certificate of a client is taken"},
		{"false", "Require", "", "any certificate of a client is taken"},
		{"false", "require", "true", ""},
		{"false", "optional", "false", ""},
		{"false", "none", "false", ""},
		{"true", "require", "true", "clients without a certificate are taken"},
		{"true", "optional", "true", ""},
	} {
		site := newSite(t, issue(t, "a", nil))
		if tt.testMode == "true" {
			delete(site.system, certPathProperty)
			delete(site.system, keyPathProperty)
		}
		site.system[testModeProperty], site.system[clientAuthProperty], site.system[verifyClientProperty] = tt.testMode, tt.auth, tt.verify
		site.write(site.config, nil) // one that is missing is warned of
		source := site.mustOpen()
		source.Start()
		source.Close()
		n := strings.Count(site.log.String(), "level=WARN")
		if tt.says == "" && n > 0 || tt.says != "" && (n != 1 || !strings.Contains(site.log.String(), tt.says)) {
			t.Errorf("%+v:\n%s", tt, site.log.String())
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(s *site)
		says    []string
	}{
		{"boolean", func(s *site) { s.system[verifyClientProperty] = "yes" }, []string{verifyClientProperty, `"yes"`, "JAVA_OPT"}},
		{"boolean in the file", func(s *site) { s.write(s.config, []byte("\n"+testModeProperty+"=no\n")) }, []string{testModeProperty, `"no"`, s(2)}},
		{"client authentication", func(s *site) { s.system[clientAuthProperty] = "want" }, []string{clientAuthProperty, `"want"`, "JAVA_OPT"}},
		{"file is a folder", func(s *site) { must(s.t, os.Mkdir(s.config, 0o700)) }, []string{fileProperty, "$CONFIG", "is a directory"}},
		{"file malformed", func(s *site) { s.write(s.config, []byte(`a=\u12`)) }, []string{fileProperty, "$CONFIG", `\u`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			site := newSite(t, issue(t, "a", nil))
			tt.prepare(site)
			_, err := site.read()
			checkError(t, site, err, tt.says)

			site.system[modeProperty] = "disabled"
			if _, err := site.read(); err != nil {
				t.Errorf("TLS is off, and yet: %v", err)
			}
		})
	}
}

// s is how a line of the properties file is named.
func s(line int) string { return "$CONFIG:" + string(rune('0'+line)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// checkError wants one line that names all of it.
func checkError(t *testing.T, s *site, err error, says []string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	text := err.Error()
	if strings.Contains(text, "\n") || !strings.HasPrefix(text, "tlsconfig: ") {
		t.Errorf("error %q", text)
	}
	names := strings.NewReplacer("$CONFIG", s.config, "$CERT", s.cert, "$KEY", s.key, "$TRUST", s.trust)
	for _, want := range says {
		if want = names.Replace(want); !strings.Contains(text, want) {
			t.Errorf("error %q doesn't say %q", text, want)
		}
	}
}
