package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"syscall"

	"github.com/waymark-mq/waymark/namesrv/settings/properties"
	"github.com/waymark-mq/waymark/namesrv/storage"
)

// Warning is something in a configuration file that has no effect.
type Warning struct {
	File string
	Line int // 0: the file as a whole
	Key  string
	Text string
	// FromBackup: File is the .bak, read because of what Text says of the file itself. Changes saved after it are lost.
	FromBackup bool
}

func (w Warning) String() string { return fmt.Sprintf("%s:%d: %s: %s", w.File, w.Line, w.Key, w.Text) }

// Load reads the defaults, the system properties of env and, unless file is "",
// that file, in this order; the last one counts. With a file, configStorePath is
// that file, whatever stands in it. Keys that are not known are kept, listed by
// Text and warned of. A value that a known key does not take is an error that
// names file, line, key and reason. In the place of a file that is missing or
// empty its .bak is read, if it holds anything, and that is warned of; a text that
// is wrong may be an operator's and is an error.
func Load(env Env, file string) (*Settings, []Warning, error) {
	s := Default(env)
	if err := s.readSystemProperties(env); err != nil {
		return nil, nil, err
	}
	if file == "" {
		return s, nil, nil
	}
	text, loaded, err := (&storage.File{Path: file}).Read()
	if err == nil && loaded.Source == storage.FromNothing {
		err = &fs.PathError{Op: "open", Path: file, Err: syscall.ENOENT}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("settings: %w", err)
	}
	read := file
	var lost []Warning
	if loaded.Source == storage.FromBackup {
		read = loaded.Path
		lost = []Warning{{File: read, Text: loaded.Problem.Error(), FromBackup: true}}
	}
	warnings, err := s.readFile(read, text)
	if err != nil {
		return nil, nil, err
	}
	s.ConfigStorePath = file
	s.readBlackList()
	return s, append(lost, warnings...), nil
}

func (s *Settings) readSystemProperties(env Env) error {
	for i := range keys {
		k := &keys[i]
		value, ok := env.Properties[k.Property]
		if k.Property == "" || !ok {
			continue
		}
		if err := k.set(s, value); err != nil {
			return fmt.Errorf("settings: system property %s: %w", k.Property, err)
		}
	}
	return nil
}

func (s *Settings) readFile(file string, text []byte) ([]Warning, error) {
	last := make(map[string]properties.Entry)
	if err := properties.Parse(text, func(e properties.Entry) { last[e.Key] = e }); err != nil {
		var syntax *properties.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("settings: %s:%d: malformed \\uxxxx: %w", file, syntax.Line, err)
		}
		return nil, fmt.Errorf("settings: %s: %w", file, err)
	}
	byLine := slices.SortedFunc(maps.Values(last), func(a, b properties.Entry) int { return a.Line - b.Line })
	var warnings []Warning
	s.listed = make(map[string]string)
	for _, e := range byLine {
		k := lookup(e.Key)
		if k == nil {
			warnings = append(warnings, Warning{File: file, Line: e.Line, Key: quote(e.Key), Text: "unknown key, kept without effect"})
			s.listed[e.Key] = e.Value
			continue
		}
		if err := k.set(s, e.Value); err != nil {
			return nil, fmt.Errorf("settings: %s:%d: %s: %w", file, e.Line, k.Name, err)
		}
		if !k.alwaysListed() {
			s.listed[e.Key] = k.text(s)
		}
	}
	if key, what := s.Unmet(); key != "" {
		return nil, fmt.Errorf("settings: %s:%d: %s: %s", file, last[key].Line, key, what)
	}
	return warnings, nil
}
