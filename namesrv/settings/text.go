package settings

import (
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/namesrv/settings/properties"
)

// Text is the body of GET_NAMESRV_CONFIG: key=value lines sorted by key, values
// as they are. It lists the keys of the name server and of the server network
// (39, and rocketmqHome when known), every further key of the file, and those of
// our own that were set. A control character in a key or value that came out of
// the file is written as its escape, so that one entry stays one line.
func (s *Settings) Text() []byte {
	var dst []byte
	s.eachListed(func(name, value string) {
		dst = append(dst, oneLine(name)...)
		dst = append(dst, '=')
		dst = append(dst, oneLine(shown(name, value))...)
		dst = append(dst, '\n')
	})
	return dst
}

// shown is a value as it is shown: of a secret, that there is one.
func shown(name, value string) string {
	if value != "" && isSecret(name) {
		return "******"
	}
	return value
}

// isSecret reports whether a key's value is never shown; one that is meant to be such a key, but for a slip, counts.
func isSecret(name string) bool {
	like := strings.ToLower(name)
	return slices.ContainsFunc(keys, func(k Key) bool { return k.secret && strings.Contains(like, strings.ToLower(k.Name)) })
}

// Listed yields the entries of Text, values as they are but for secrets.
func (s *Settings) Listed() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		going := true
		s.eachListed(func(name, value string) { going = going && yield(name, shown(name, value)) })
	}
}

// NeedsRestart reports whether another value of a key works only after a restart: keys that are read at the start alone, and those that
// UPDATE_NAMESRV_CONFIG refuses.
func NeedsRestart(name string) bool {
	k := lookup(name)
	return k != nil && (k.Effect == AtRestart || k.protected)
}

// Value is the value of a key as text; "" of an unknown one.
func (s *Settings) Value(name string) string {
	if k := lookup(name); k != nil {
		return k.text(s)
	}
	return s.listed[name]
}

// FileText is what UPDATE_NAMESRV_CONFIG saves: the same entries as Text, secrets as they are, so
// escaped that Load and Apache's nameserver read back the same values.
func (s *Settings) FileText() []byte {
	var dst []byte
	s.eachListed(func(name, value string) { dst = properties.AppendEntry(dst, name, value) })
	return dst
}

// AllText is Text with every known key, set or not: what the server works with.
func (s *Settings) AllText() []byte {
	all := s.clone()
	for i := range keys {
		all.listed[keys[i].Name] = keys[i].text(s)
	}
	return all.Text()
}

func (s *Settings) eachListed(each func(name, value string)) {
	entries := maps.Clone(s.listed)
	if entries == nil {
		entries = make(map[string]string)
	}
	for i := range keys {
		k := &keys[i]
		if k.alwaysListed() && (k.Name != "rocketmqHome" || s.RocketmqHome != "") {
			entries[k.Name] = k.text(s)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		each(name, entries[name])
	}
}

// oneLine replaces control characters by their escapes and leaves everything
// else, backslashes included.
func oneLine(text string) string {
	if !strings.ContainsFunc(text, isControl) {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if isControl(r) {
			out.Write(properties.AppendEscaped(nil, r))
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}
