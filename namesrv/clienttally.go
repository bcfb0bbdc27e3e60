package namesrv

import (
	"strconv"

	"github.com/waymark-mq/waymark/codec"
)

// clientKind is a peer's language and version, as its connection's first request says.
type clientKind struct {
	language codec.Language
	version  int32 // ordinal of Apache's MQVersion
}

// maxClientKinds bounds the kinds that a loop counts by themselves: a peer may say anything.
const maxClientKinds = 64

// otherClients stands for what is beyond that bound. No peer's version is so small: those are counted as 0.
var otherClients = clientKind{codec.LanguageUnknown, -1}

// clientTally counts a loop's open connections by kind. Changed at a connection's first request and at its end.
type clientTally map[clientKind]int

// add counts a connection and returns the kind to take it off by.
func (t *clientTally) add(k clientKind) clientKind {
	k.version = max(k.version, 0)
	if *t == nil {
		*t = clientTally{}
	}
	if _, known := (*t)[k]; !known && len(*t) >= maxClientKinds {
		k = otherClients
	}
	(*t)[k]++
	return k
}

func (t clientTally) remove(k clientKind) {
	if t[k]--; t[k] == 0 {
		delete(t, k)
	}
}

// Ordinals of Apache's MQVersion from V4_0_0_SNAPSHOT on: each release has one behind its snapshot's, and every x.y.z from 4.0.0
// to 5.9.9 has a place. Source: versions in frames of 4.9.4 (401), 4.9.7 (407), 5.3.1 (475) and 5.5.0 (513).
const (
	firstNamedVersion = 212
	lastNamedVersion  = 611
)

// versionName is a version as people write it; before 4.0.0, and of unknown ones, the ordinal.
func versionName(ordinal int32) string {
	if ordinal < firstNamedVersion || ordinal > lastNamedVersion {
		return strconv.Itoa(int(ordinal))
	}
	n := int(ordinal-firstNamedVersion) / 2
	name := strconv.Itoa(4+n/100) + "." + strconv.Itoa(n/10%10) + "." + strconv.Itoa(n%10)
	if (ordinal-firstNamedVersion)%2 == 0 {
		name += "-SNAPSHOT"
	}
	return name
}

func (k clientKind) names() (language, version string) {
	if k == otherClients {
		return "other", "other"
	}
	return k.language.String(), versionName(k.version)
}
