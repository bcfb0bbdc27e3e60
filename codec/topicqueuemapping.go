package codec

import (
	"cmp"
	"slices"
	"strconv"
)

// globalScope is the scope of a mapping that names none.
const globalScope = "__global__"

// Append appends m as JSON. The dialect decides on the quotes of currIdMap's keys.
func (m *TopicQueueMapping) Append(dst []byte, d Dialect) []byte {
	dst = append(dst, '{')
	dst = appendNullString(dst, "bname", m.BrokerName)
	if !m.NullIDMap {
		dst = append(dst, `"currIdMap":`...)
		dst = appendIDMap(dst, m.CurrIDMap, d)
		dst = append(dst, ',')
	}
	dst = append(dst, `"dirty":`...)
	dst = strconv.AppendBool(dst, m.Dirty)
	dst = append(dst, `,"epoch":`...)
	dst = strconv.AppendInt(dst, m.Epoch, 10)
	dst = append(dst, ',')
	dst = appendNullString(dst, "scope", m.Scope)
	dst = appendNullString(dst, "topic", m.Topic)
	dst = append(dst, `"totalQueues":`...)
	dst = strconv.AppendInt(dst, int64(m.TotalQueues), 10)
	return append(dst, '}')
}

// appendNullString appends a member and a comma, or nothing if it is null.
func appendNullString(dst []byte, name string, s NullString) []byte {
	if !s.Valid {
		return dst
	}
	dst = AppendString(dst, name)
	dst = append(dst, ':')
	dst = AppendString(dst, s.S)
	return append(dst, ',')
}

func appendIDMap(dst []byte, pairs []IDPair, d Dialect) []byte {
	dst = append(dst, '{')
	for i, pair := range pairs {
		if i > 0 {
			dst = append(dst, ',')
		}
		if d == Standard {
			dst = append(dst, '"')
			dst = strconv.AppendInt(dst, int64(pair.Logical), 10)
			dst = append(dst, '"')
		} else {
			dst = strconv.AppendInt(dst, int64(pair.Logical), 10)
		}
		dst = append(dst, ':')
		dst = strconv.AppendInt(dst, int64(pair.Physical), 10)
	}
	return append(dst, '}')
}

// mappings reads topicQueueMappingInfoMap. An entry that is null is as good as
// absent, and so is a null map.
func (p *registerParser) mappings() {
	p.body.Mappings = nil
	if p.null() || !p.open('{') {
		return
	}
	for key, ok := p.member(); ok && p.room(len(p.body.Mappings), maxBodyMappings); key, ok = p.member() {
		name := string(key)
		if !p.null() && p.open('{') {
			m := p.mapping(name)
			m.Key = name
			p.body.Mappings = append(p.body.Mappings, m)
		}
	}
}

// mapping reads an opened mapping. Strings that equal the topic's key or the
// mapping before are shared.
func (p *registerParser) mapping(key string) TopicQueueMapping {
	m := TopicQueueMapping{Scope: NullString{globalScope, true}}
	brokerName := ""
	if n := len(p.body.Mappings); n > 0 {
		brokerName = p.body.Mappings[n-1].BrokerName.S
	}
	for member, ok := p.member(); ok; member, ok = p.member() {
		switch string(member) {
		case "topic":
			m.Topic = p.nullString(key)
		case "scope":
			m.Scope = p.nullString(globalScope)
		case "bname":
			m.BrokerName = p.nullString(brokerName)
		case "totalQueues":
			m.TotalQueues = p.int32()
		case "epoch":
			m.Epoch = p.int64()
		case "dirty":
			m.Dirty = p.boolean()
		case "currIdMap":
			m.CurrIDMap, m.NullIDMap = p.idMap()
		default:
			p.skip()
		}
	}
	return m
}

// nullString reads a string or null; one equal to known shares its memory.
func (p *registerParser) nullString(known string) NullString {
	if p.null() {
		return NullString{}
	}
	b := p.text()
	if string(b) == known {
		return NullString{known, true}
	}
	return NullString{string(b), true}
}

// idMap reads a map of integers to integers, its keys bare or quoted. Entries
// with a null value are left out; of a repeated key the last stands.
func (p *registerParser) idMap() (pairs []IDPair, isNull bool) {
	if p.null() {
		return nil, true
	}
	if !p.open('{') {
		return nil, false
	}
	for key, ok := p.member(); ok && p.room(p.idPairs, maxBodyEntries); key, ok = p.member() {
		p.idPairs++
		logical, fits := parseInteger(key)
		if !fits || int64(int32(logical)) != logical {
			p.fail("bad queue id")
		}
		if !p.null() {
			pairs = append(pairs, IDPair{int32(logical), p.int32()})
		}
	}
	return sortPairs(pairs), false
}

// sortPairs orders pairs by logical id and keeps the last of each.
func sortPairs(pairs []IDPair) []IDPair {
	slices.SortStableFunc(pairs, func(a, b IDPair) int { return cmp.Compare(a.Logical, b.Logical) })
	kept := pairs[:0]
	for i, pair := range pairs {
		if i+1 == len(pairs) || pairs[i+1].Logical != pair.Logical {
			kept = append(kept, pair)
		}
	}
	return kept
}
