package codec

import (
	"errors"
	"fmt"
)

// Limits of a registration body. Counts in a body are never trusted for
// allocation: memory grows with the bytes that are really there.
const (
	// DefaultMaxInflatedBytes bounds what a deflated body may inflate to. Real
	// ones shrink to a tenth: 64 MiB is some 500,000 topics.
	DefaultMaxInflatedBytes = 64 << 20
	// maxBodyEntries bounds the topics, the queue id pairs of all mappings
	// together, and the filter servers of one body, each.
	maxBodyEntries = 1_000_000
	// maxBodyMappings bounds the mappings. A broker has one for each static
	// topic; 6 bytes can make one, which takes 136 in memory.
	maxBodyMappings = 200_000
)

// Versions of the sender that change the form of the body.
const (
	versionRegisterBody    = 37  // V3_0_11: RegisterBrokerBody in place of the bare wrapper
	versionMappingDeflated = 413 // V5_0_0: the deflated form ends with static mappings
)

// zlibMagic is the first byte of a zlib stream with a 32 KiB window, as Java's
// Deflater writes it. No JSON value starts with it.
const zlibMagic = 0x78

var (
	// ErrTooManyEntries says that a body holds more than 1,000,000 topics, queue ids or
	// filter servers, or more than 200,000 mappings.
	ErrTooManyEntries = errors.New("codec: too many entries")
	// ErrInflatedTooLarge says that a deflated body inflates to more than is allowed.
	ErrInflatedTooLarge = errors.New("codec: inflated body too large")
	// ErrNegativeVersion says that the sender's version is negative, which
	// REGISTER_BROKER (103) alone refuses. Apache fails on an array index there.
	ErrNegativeVersion = errors.New("codec: negative version")
)

// RegisterBodyOptions say how to read a body of REGISTER_BROKER (103).
type RegisterBodyOptions struct {
	Version    int32 // of the request's header
	Compressed bool  // field compressed
	// NowMillis is the timestamp of a DataVersion that has none, ms since the Unix epoch.
	NowMillis int64
	// Intern returns the string of a topic name, perhaps one that exists
	// already. It is called with each key of the topic table, and with the name
	// under it where that differs; it must not keep the bytes. nil copies.
	Intern func([]byte) string
	// MaxInflatedBytes bounds a deflated body, 0 is DefaultMaxInflatedBytes.
	MaxInflatedBytes int
	// Room, if not nil, is where the result's Topics lie: until the next body is parsed into it.
	Room *RegisterRoom
}

// ParseRegisterBody reads a body of REGISTER_BROKER (103) in any of its forms.
// The result does not alias the body.
//
//	version         body          form
//	negative        any           ErrNegativeVersion
//	any             none          empty table, DataVersion all zeros
//	below 37        JSON          the wrapper alone, no filterServerList
//	37 and later    JSON          {"filterServerList":…,"topicConfigSerializeWrapper":…}
//	37 and later    zlib          length-prefixed items; from 413 on with mappings
//
// A zlib stream is taken for one whatever Compressed says: 5.x brokers with
// compressedRegister=true deflate the body and deny it in the header. A body
// announced as compressed that is not one is an error. The JSON value null is
// ErrNullBody. Every other error means that the body is malformed.
//
// Source: Apache RocketMQ 5.5.0, recorded in testdata/register. Differs: Apache
// refuses deflated bodies that are not announced.
func ParseRegisterBody(body []byte, o *RegisterBodyOptions) (*RegisterBody, error) {
	if o.Version < 0 {
		return nil, ErrNegativeVersion
	}
	current := o.Version >= versionRegisterBody
	if len(body) == 0 {
		return &RegisterBody{HasFilterServers: current}, nil
	}
	p := &registerParser{options: o, body: &RegisterBody{}, memory: o.Room}
	if p.memory == nil {
		p.memory = &RegisterRoom{}
	}
	var err error
	switch {
	case !current:
		err = p.parseOld(body)
	case o.Compressed || body[0] == zlibMagic:
		err = p.parseDeflated(body)
	default:
		err = p.parseJSON(body)
	}
	if err != nil {
		return nil, fmt.Errorf("codec: register body: %w", err)
	}
	p.finishTable()
	return p.body, nil
}

// registerParser fills one RegisterBody. Its reader runs over the whole body,
// or over the item of a deflated one that is JSON.
type registerParser struct {
	jsonReader
	options *RegisterBodyOptions
	body    *RegisterBody
	memory  *RegisterRoom
	idPairs int // in the mappings so far
	shapes  topicShapes
}

// topicName makes a string of a topic's name or key.
func (p *registerParser) topicName(b []byte) string {
	if p.options.Intern != nil {
		return p.options.Intern(b)
	}
	return string(b)
}

// room reports whether one more entry may follow n of its kind, and fails if not.
func (p *registerParser) room(n, limit int) bool {
	if n < limit {
		return true
	}
	if p.err == nil {
		p.err = ErrTooManyEntries
	}
	return false
}

// finishTable makes the keys of the tables unique.
func (p *registerParser) finishTable() {
	b := p.body
	p.memory.keep(b.Topics)
	b.Topics = keepLast(b.Topics, &p.memory.slots, func(t *TopicConfig) string { return t.Key })
	b.Mappings = keepLast(b.Mappings, &p.memory.slots, func(m *TopicQueueMapping) string { return m.Key })
}
