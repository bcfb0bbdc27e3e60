package tlsconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/waymark-mq/waymark/namesrv/settings/properties"
)

// Names of the properties. All but the first two may stand in the file too, where they count before system properties.
const (
	modeProperty          = "tls.server.mode"
	fileProperty          = "tls.config.file"
	testModeProperty      = "tls.test.mode.enable"
	clientAuthProperty    = "tls.server.need.client.auth"
	verifyClientProperty  = "tls.server.authClient"
	certPathProperty      = "tls.server.certPath"
	keyPathProperty       = "tls.server.keyPath"
	keyPasswordProperty   = "tls.server.keyPassword"
	trustCertPathProperty = "tls.server.trustCertPath"
)

var fileProperties = []string{
	testModeProperty, clientAuthProperty, verifyClientProperty, certPathProperty, keyPathProperty, keyPasswordProperty, trustCertPathProperty,
}

const defaultFile = "/etc/rocketmq/tls.properties"

// Mode says which connections are taken.
type Mode string

const (
	Disabled   Mode = "disabled"   // a TLS hello closes the connection
	Permissive Mode = "permissive" // with TLS and without
	Enforcing  Mode = "enforcing"  // with TLS only
)

// ClientAuth says whether clients are asked for a certificate.
type ClientAuth string

const (
	AuthNone     ClientAuth = "none"
	AuthOptional ClientAuth = "optional" // one that is sent must be good
	AuthRequire  ClientAuth = "require"
)

// Properties are what was read. The zero value isn't usable: see Read.
type Properties struct {
	Mode         Mode
	TestMode     bool       // a certificate is made at the start; the paths don't count
	ClientAuth   ClientAuth // without TestMode
	VerifyClient bool       // a client's certificate must come from one that is trusted; else any does

	CertPath, KeyPath, TrustCertPath string
	keyPassword                      string

	found    map[string]value
	warnings []string
}

// value is the text of a property and where it stood.
type value struct{ text, from string }

// Read reads the system properties and the file they name. origin tells where a system property was set, for the log and
// for errors. The file may be missing. An error names property, place and value.
func Read(system map[string]string, origin func(name string) string) (*Properties, error) {
	p := &Properties{found: map[string]value{}}
	for _, name := range append([]string{modeProperty, fileProperty}, fileProperties...) {
		if text, ok := system[name]; ok {
			p.found[name] = value{strings.TrimSpace(text), origin(name)}
		}
	}
	p.readMode()
	if p.Mode == Disabled {
		return p, nil // nothing else is used, so nothing else can be wrong
	}
	if err := p.readFile(); err != nil {
		return nil, err
	}
	return p, p.parse()
}

// readMode takes what it doesn't know for permissive, as Apache's does.
func (p *Properties) readMode() {
	v := p.found[modeProperty]
	switch p.Mode = Mode(v.text); p.Mode {
	case Disabled, Permissive, Enforcing:
	default:
		p.Mode = Permissive
		if v.text != "" {
			p.warnings = append(p.warnings, fmt.Sprintf("%s %q (%s) is none of disabled, permissive and enforcing: permissive it is", modeProperty, v.text, v.from))
		}
	}
}

func (p *Properties) readFile() error {
	named, isNamed := p.found[fileProperty]
	path := named.text
	if path == "" {
		path, isNamed = defaultFile, false
	}
	text, err := readRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		if isNamed {
			p.warnings = append(p.warnings, fmt.Sprintf("%s %q (%s) does not exist", fileProperty, path, named.from))
		}
		return nil
	}
	if err == nil {
		err = properties.Parse(text, func(e properties.Entry) { p.fromFile(path, e) })
	}
	if err != nil {
		return fmt.Errorf("tlsconfig: %s %s: %w", fileProperty, path, err)
	}
	return nil
}

func (p *Properties) fromFile(path string, e properties.Entry) {
	if e.Key == modeProperty {
		p.warnings = append(p.warnings, fmt.Sprintf("%s in %s:%d has no effect: it is a system property only", e.Key, path, e.Line))
	}
	for _, name := range fileProperties {
		if name == e.Key {
			p.found[name] = value{strings.TrimSpace(e.Value), fmt.Sprintf("%s:%d", path, e.Line)}
		}
	}
}

func (p *Properties) parse() (err error) {
	p.CertPath, p.KeyPath, p.TrustCertPath = p.found[certPathProperty].text, p.found[keyPathProperty].text, p.found[trustCertPathProperty].text
	p.keyPassword = p.found[keyPasswordProperty].text
	if p.TestMode, err = p.boolean(testModeProperty, true); err != nil {
		return err
	}
	if p.VerifyClient, err = p.boolean(verifyClientProperty, false); err != nil {
		return err
	}
	v := p.found[clientAuthProperty]
	switch p.ClientAuth = ClientAuth(strings.ToLower(v.text)); p.ClientAuth {
	case AuthNone, AuthOptional, AuthRequire:
	case "":
		p.ClientAuth = AuthNone
	default:
		return fmt.Errorf("tlsconfig: %s %q (%s) is none of none, optional and require", clientAuthProperty, v.text, v.from)
	}
	if p.TestMode && p.CertPath+p.KeyPath+p.TrustCertPath != "" {
		p.warnings = append(p.warnings, "certificates are named and not used: "+testModeProperty+" is true, which is its default")
	}
	p.warnIfNobodyIsKeptOut()
	return nil
}

// warnIfNobodyIsKeptOut says that client certificates, though required, keep nobody out, as with Apache's.
func (p *Properties) warnIfNobodyIsKeptOut() {
	switch {
	case p.ClientAuth != AuthRequire:
	case p.TestMode:
		p.warnings = append(p.warnings, "clients without a certificate are taken, though "+clientAuthProperty+" is require: "+testModeProperty+" is true")
	case !p.VerifyClient:
		p.warnings = append(p.warnings, "any certificate of a client is taken, also one that it made itself, though "+clientAuthProperty+" is require: "+verifyClientProperty+" is false")
	}
}

func (p *Properties) boolean(name string, def bool) (bool, error) {
	v := p.found[name]
	switch strings.ToLower(v.text) {
	case "":
		return def, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("tlsconfig: %s %q (%s) is neither true nor false", name, v.text, v.from)
}

// named names a property's value in an error.
func (p *Properties) named(name string) string {
	v := p.found[name]
	return fmt.Sprintf("%s %s (%s)", name, v.text, v.from)
}

// log says what was found where, and what is odd about it.
func (p *Properties) log(logger *slog.Logger) {
	for _, warning := range p.warnings {
		logger.Warn("TLS: " + warning)
	}
	for _, name := range append([]string{modeProperty, fileProperty}, fileProperties...) {
		v, ok := p.found[name]
		if !ok {
			continue
		}
		if name == keyPasswordProperty {
			v.text = "***"
		}
		logger.Info("TLS property", "name", name, "value", v.text, "from", v.from)
	}
}

// readRegular reads a file. Folders are errors, and so is what could make the start wait, like a pipe.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path) // says of a folder that it is one
}
