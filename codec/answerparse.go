package codec

import "fmt"

// answerParser reads the bodies of a nameserver's answers, in either dialect. What isn't known is skipped; null
// is as good as absent. A body may hold maxBodyEntries entries of all kinds together.
type answerParser struct {
	registerParser // for the static mappings, which a registration has in the same form
	entries        int
}

// parseAnswer reads a body that is an object: member is called with each key and consumes the value.
func parseAnswer(what string, body []byte, member func(p *answerParser, key string)) error {
	p := answerParser{registerParser: registerParser{
		jsonReader: jsonReader{b: body}, options: &RegisterBodyOptions{}, body: &RegisterBody{}, memory: &RegisterRoom{},
	}}
	if p.root() {
		p.members(func(key string) { member(&p, key) })
	}
	if err := p.finish(); err != nil {
		return fmt.Errorf("codec: %s: %w", what, err)
	}
	return nil
}

// entry counts one; false and an error if it is one too many.
func (p *answerParser) entry() bool {
	p.entries++
	return p.room(p.entries-1, maxBodyEntries)
}

// members goes through an opened object.
func (p *answerParser) members(member func(key string)) {
	for key, ok := p.member(); ok && p.entry(); key, ok = p.member() {
		member(string(key))
	}
}

// object goes through an object, or none.
func (p *answerParser) object(member func(key string)) {
	if !p.null() && p.open('{') {
		p.members(member)
	}
}

// string reads a string; null is "".
func (p *answerParser) string() string {
	if p.null() {
		return ""
	}
	return string(p.text())
}

// strings reads a list of strings.
func (p *answerParser) strings() (list []string) {
	if p.null() || !p.open('[') {
		return nil
	}
	for p.element() && p.entry() {
		list = append(list, p.string())
	}
	return list
}

// brokerData reads a broker name with its addresses.
func (p *answerParser) brokerData() (b BrokerData) {
	p.object(func(key string) {
		switch key {
		case "brokerName":
			b.BrokerName = p.string()
		case "cluster":
			b.Cluster = p.string()
		case "zoneName":
			b.ZoneName = p.nullString("")
		case "enableActingMaster":
			b.EnableActingMaster = p.boolean()
		case "brokerAddrs":
			b.Addrs = p.brokerAddrs()
		default:
			p.skip()
		}
	})
	return b
}

// brokerAddrs reads a map of brokerId, bare or quoted, to address.
func (p *answerParser) brokerAddrs() (addrs []BrokerAddr) {
	p.object(func(key string) {
		id, ok := parseInteger([]byte(key))
		if !ok {
			p.fail("bad broker id")
		}
		addrs = append(addrs, BrokerAddr{id, p.string()})
	})
	return addrs
}
