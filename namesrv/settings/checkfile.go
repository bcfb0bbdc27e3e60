package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/waymark-mq/waymark/namesrv/settings/properties"
)

// Finding is an entry of a configuration file, and what the server would make of it.
type Finding struct {
	Line   int    // 0: the file as a whole
	Key    string // "": a line that can't be read, or the file
	Value  string // as the server would show it; as it stands if the key is unknown or the value wrong. Never a secret
	Known  bool
	Effect Effect // of a known key that isn't Repeated
	// Repeated: the key stands again below, and this line has no effect.
	Repeated bool
	Problem  string // "": none
	// Fatal: a server with this file wouldn't start, or wouldn't come back.
	Fatal bool
}

// CheckFile reads a file as Load does, to its end whatever is wrong in it. There is a Fatal finding if and only if Load refuses the
// text. A file that can't be read, or is none of text, is an error; no .bak is read in its place.
func CheckFile(env Env, file string) ([]Finding, error) {
	text, err := readText(file)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	var findings []Finding
	last := map[string]int{} // line of the entry that counts
	err = properties.Parse(text, func(e properties.Entry) {
		last[e.Key] = e.Line
		findings = append(findings, Finding{Line: e.Line, Key: e.Key, Value: e.Value})
	})
	s := Default(env)
	for i := range findings {
		if f := &findings[i]; last[f.Key] != f.Line {
			f.Known, f.Repeated = lookup(f.Key) != nil, true
			f.Problem = fmt.Sprintf("without effect: line %d has the key again", last[f.Key])
		} else {
			f.check(s)
		}
	}
	checkTogether(findings, s)
	for i := range findings {
		findings[i].Value = shown(findings[i].Key, findings[i].Value)
	}
	if syntax := (*properties.SyntaxError)(nil); errors.As(err, &syntax) {
		findings = append(findings, Finding{Line: syntax.Line, Problem: "malformed \\uxxxx; nothing behind it was read", Fatal: true})
	}
	if len(text) == 0 {
		findings = append(findings, Finding{Problem: "empty: the server would read its .bak in its place"})
	}
	return findings, nil
}

// checkTogether finds the key that needs another. Where one is wrong by itself that isn't known.
func checkTogether(findings []Finding, s *Settings) {
	key, what := s.Unmet()
	if key == "" || slices.ContainsFunc(findings, func(f Finding) bool { return f.Fatal }) {
		return
	}
	i := slices.IndexFunc(findings, func(f Finding) bool { return f.Key == key && !f.Repeated })
	findings[i].Problem, findings[i].Fatal = what, true
}

// maxFileBytes bounds a file that is checked. Apache's configurations have a few hundred bytes.
const maxFileBytes = 1 << 20

// readText reads a file, or a pipe to its end.
func readText(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if m := info.Mode(); !m.IsRegular() && m&fs.ModeNamedPipe == 0 {
		return nil, fmt.Errorf("%s is neither a regular file nor a pipe", file)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err == nil && len(text) > maxFileBytes {
		err = fmt.Errorf("%s has more than %d bytes: no configuration", file, maxFileBytes)
	}
	return text, err
}

// check sets the key in s.
func (f *Finding) check(s *Settings) {
	k := lookup(f.Key)
	if k == nil {
		f.Problem = "unknown key, kept without effect"
		return
	}
	f.Known, f.Effect = true, k.Effect
	if err := k.set(s, f.Value); err != nil {
		f.Problem, f.Fatal = err.Error(), true
		return
	}
	f.Value = k.text(s)
}
