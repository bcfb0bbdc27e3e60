// Package access says which peer may send which request. It computes and nothing else: the server asks it once for each
// connection and group of requests, keeps the answer, and carries it out.
//
// Apache has no such rules: everybody who reaches the port may change everything. So they are off unless set.
package access

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/waymark-mq/waymark/codec"
)

// Group is what requests are guarded as.
type Group uint8

const (
	// Read are all requests that change nothing. Nobody is refused them.
	Read Group = iota
	// Admin are the requests by which an operator changes topics, permissions, KV and settings.
	Admin
	// Broker are the requests by which brokers register and stay alive.
	Broker
	// Both is the registration of one topic (217). It changes what an operator's may, and brokers send it: those of 5.x with enableSingleTopicRegister,
	// for each topic that is made. So it may come from whoever is in either list, and readOnly is not against the brokers that brokerAllowList names.
	Both

	// Groups is the number of them.
	Groups
)

// Operators reports whether operators send requests of the group: all of them are accounted for.
func (g Group) Operators() bool { return g == Admin || g == Both }

// GroupOf returns the group of a request code.
func GroupOf(code int32) Group {
	switch code {
	case codec.RequestPutKVConfig, codec.RequestDeleteKVConfig, codec.RequestWipeWritePermOfBroker, codec.RequestAddWritePermOfBroker,
		codec.RequestDeleteTopicInNamesrv, codec.RequestUpdateNamesrvConfig:
		return Admin
	case codec.RequestRegisterTopicInNamesrv:
		return Both
	case codec.RequestRegisterBroker, codec.RequestUnregisterBroker, codec.RequestQueryDataVersion, codec.RequestBrokerHeartbeat:
		return Broker
	}
	return Read
}

// Mode says what a rule does with a request that it is against.
type Mode uint8

const (
	Enforce Mode = iota // the request is refused
	Observe             // it is told of, and let through
)

// ParseMode reads "enforce" or "observe", in any letter case.
func ParseMode(text string) (Mode, error) {
	switch {
	case strings.EqualFold(text, "enforce"):
		return Enforce, nil
	case strings.EqualFold(text, "observe"):
		return Observe, nil
	}
	return 0, fmt.Errorf("%s is neither enforce nor observe", quote(text))
}

// Config are the settings that rules are made of. An empty list is no rule.
type Config struct {
	AdminAllow, BrokerAllow List
	AdminMode, BrokerMode   Mode
	ReadOnly                bool
	ReadOnlyMode            Mode
}

// Rules are who may do what. They aren't changed once made. Nil are none: everybody may do everything.
type Rules struct{ of [Groups][]rule }

// rule is against what it doesn't allow.
type rule struct {
	setting string // its name, for remarks and logs
	allow   List
	mode    Mode
}

// New makes rules; nil if there are none.
func New(c Config) *Rules {
	r := &Rules{}
	either := c.AdminAllow.and(c.BrokerAllow)
	if c.ReadOnly {
		r.add(Admin, rule{setting: "readOnly", mode: c.ReadOnlyMode})
		r.add(Both, rule{"readOnly", c.BrokerAllow, c.ReadOnlyMode})
	}
	if !c.AdminAllow.Empty() {
		r.add(Admin, rule{"adminAllowList", c.AdminAllow, c.AdminMode})
		r.add(Both, rule{"adminAllowList", either, c.AdminMode})
	}
	if !c.BrokerAllow.Empty() {
		r.add(Broker, rule{"brokerAllowList", c.BrokerAllow, c.BrokerMode})
		r.add(Both, rule{"brokerAllowList", either, c.BrokerMode})
	}
	if len(r.of[Both]) == 0 { // each rule has one there
		return nil
	}
	return r
}

func (r *Rules) add(g Group, rule rule) { r.of[g] = append(r.of[g], rule) }

// Verdict is what the rules say to a request. The zero Verdict allows it.
type Verdict struct {
	// By is the setting that is against the request; "": none is, it is allowed.
	By string
	// Refused: it is not to be carried out. False with a By: it would be if the setting's mode were enforce.
	Refused bool
}

// Judge says what an address, as Peer returns it, may do. A rule that refuses counts before one that observes.
func (r *Rules) Judge(g Group, from netip.Addr) Verdict {
	var v Verdict
	if r == nil {
		return v
	}
	for _, rule := range r.of[g] {
		if rule.allow.Has(from) {
			continue
		}
		if rule.mode == Enforce {
			return Verdict{By: rule.setting, Refused: true}
		}
		if v.By == "" {
			v.By = rule.setting
		}
	}
	return v
}

// Guarded reports whether a stranger is refused requests of the group.
func (r *Rules) Guarded(g Group) bool { return r.Judge(g, netip.Addr{}).Refused }
