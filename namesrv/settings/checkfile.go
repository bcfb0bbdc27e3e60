package settings

import (
	"errors"
	"fmt"
	"os"

	"github.com/waymark-mq/waymark/namesrv/settings/properties"
)

// Finding is an entry of a configuration file, and what the server would make of it.
type Finding struct {
	Line    int    // 0: the file as a whole
	Key     string // "": a line that can't be read, or the file
	Value   string // as the server would show it; as it stands if the key is unknown or the value wrong
	Known   bool
	Effect  Effect // of a known key
	Problem string // "": none
	// Fatal: a server with this file wouldn't start, or wouldn't come back.
	Fatal bool
}

// CheckFile reads a file as Load does, to its end whatever is wrong in it. There is a Fatal finding if and only if Load refuses the
// text. A file that can't be read is an error; no .bak is read in its place.
func CheckFile(env Env, file string) ([]Finding, error) {
	text, err := os.ReadFile(file)
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
			f.Known = lookup(f.Key) != nil
			f.Problem = fmt.Sprintf("without effect: line %d has the key again", last[f.Key])
		} else {
			f.check(s)
		}
	}
	if syntax := (*properties.SyntaxError)(nil); errors.As(err, &syntax) {
		findings = append(findings, Finding{Line: syntax.Line, Problem: "malformed \\uxxxx; nothing behind it was read", Fatal: true})
	}
	if len(text) == 0 {
		findings = append(findings, Finding{Problem: "empty: the server would read its .bak in its place"})
	}
	return findings, nil
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
