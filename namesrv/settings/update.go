package settings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/waymark-mq/waymark/namesrv/settings/properties"
)

// ErrBlackList: the request names a key that may not be changed from outside.
var ErrBlackList = errors.New("settings: key is in the black list")

// ErrProperties: the body is no properties text.
var ErrProperties = errors.New("settings: body is no properties text")

// ValueError is a value that a known key does not take.
type ValueError struct{ Key, Reason string }

func (e *ValueError) Error() string { return "settings: " + e.Key + ": " + e.Reason }

// Change is one key of an accepted request.
type Change struct {
	Key, Old, New string
	// NeedsRestart: the value is kept and shown but works only after a restart
	// with -c on the saved file.
	NeedsRestart bool
	// Ignored: the key has no meaning here, is in no file and is not kept, as
	// in Apache. At most 16 of a request are reported.
	Ignored bool
}

const maxIgnoredReported = 16

// Update applies the body of UPDATE_NAMESRV_CONFIG to a copy of s. The body is
// UTF-8 that is read as ISO-8859-1, so that only ASCII and \u escapes arrive
// unharmed, as in Apache. The keys that can be set are those that Text lists and
// our own. On an error (ErrBlackList, ErrProperties, *ValueError) nothing of the
// body counts. When no value differs, the settings returned are s itself.
func (s *Settings) Update(body []byte) (*Settings, []Change, error) {
	request, ignored, err := s.readUpdate(body)
	if err != nil {
		return nil, nil, err
	}
	next := s.clone()
	var changes []Change
	for _, name := range slices.Sorted(maps.Keys(request)) {
		change, err := next.apply(name, request[name])
		if err != nil {
			return nil, nil, err
		}
		if change.Old != change.New {
			change.Old, change.New = shown(name, change.Old), shown(name, change.New) // they are logged, and told to whoever asks
			changes = append(changes, change)
		}
	}
	if len(changes) == 0 {
		next = s
	}
	return next, append(changes, ignored...), nil
}

// readUpdate picks what can be set out of body: the last value of each key.
func (s *Settings) readUpdate(body []byte) (request map[string]string, ignored []Change, err error) {
	if !utf8.Valid(body) {
		body = []byte(string([]rune(string(body)))) // broken bytes become U+FFFD, as in Java
	}
	request = make(map[string]string)
	refused := false
	err = properties.Parse(body, func(e properties.Entry) {
		switch {
		case s.blackList[e.Key]:
			refused = true
		case s.settable(e.Key):
			request[e.Key] = e.Value
		case len(ignored) < maxIgnoredReported:
			ignored = append(ignored, Change{Key: quote(e.Key), New: quote(shown(e.Key, e.Value)), Ignored: true})
		}
	})
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrProperties, err)
	}
	if refused {
		return nil, nil, ErrBlackList
	}
	return request, ignored, nil
}

func (s *Settings) settable(name string) bool {
	if _, ok := s.listed[name]; ok {
		return true
	}
	k := lookup(name)
	return k != nil && k.Group != ClientNetwork
}

// apply sets one settable key of s, which nobody else sees yet.
func (s *Settings) apply(name, value string) (Change, error) {
	k := lookup(name)
	if k == nil {
		if strings.ContainsFunc(value, isControl) {
			return Change{}, &ValueError{Key: oneLine(name), Reason: quote(shown(name, value)) + " holds control characters"}
		}
		change := Change{Key: oneLine(name), Old: s.listed[name], New: value}
		s.listed[name] = value
		return change, nil
	}
	change := Change{Key: name, Old: k.text(s), NeedsRestart: k.Effect == AtRestart}
	if err := k.set(s, value); err != nil {
		return Change{}, &ValueError{Key: name, Reason: err.Error()}
	}
	if k.whileRunning != nil {
		if err := k.whileRunning(s); err != nil {
			return Change{}, &ValueError{Key: name, Reason: err.Error()}
		}
	}
	change.New = k.text(s)
	if !k.alwaysListed() {
		s.listed[name] = change.New
	}
	return change, nil
}
