package settings

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/waymark-mq/waymark/namesrv/settings/properties"
)

// Warning is something in a configuration file that has no effect.
type Warning struct {
	File string
	Line int
	Key  string
	Text string
}

func (w Warning) String() string { return fmt.Sprintf("%s:%d: %s: %s", w.File, w.Line, w.Key, w.Text) }

// Load reads the defaults, the system properties of env and, unless file is "",
// that file, in this order; the last one counts. With a file, configStorePath is
// that file, whatever stands in it. Keys that are not known are kept, listed by
// Text and warned of. A value that a known key does not take is an error that
// names file, line, key and reason.
func Load(env Env, file string) (*Settings, []Warning, error) {
	s := Default(env)
	if err := s.readSystemProperties(env); err != nil {
		return nil, nil, err
	}
	if file == "" {
		return s, nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("settings: %w", err)
	}
	warnings, err := s.readFile(file, text)
	if err != nil {
		return nil, nil, err
	}
	s.ConfigStorePath = file
	s.readBlackList()
	return s, warnings, nil
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
			warnings = append(warnings, Warning{file, e.Line, quote(e.Key), "unknown key, kept without effect"})
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
	return warnings, nil
}
