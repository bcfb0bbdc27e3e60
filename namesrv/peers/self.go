package peers

import (
	"encoding/binary"
	"slices"
)

// State is what a nameserver says of itself.
type State uint8

const (
	Starting State = iota // it isn't to be asked yet
	Ready
	Draining // clients are to go elsewhere
	Leaving  // it stops
)

var stateNames = [...]string{"starting", "ready", "draining", "leaving"}

// String is the state's name; "unknown" for one of a later version.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "unknown"
}

// Self is what a nameserver says of itself. The others know it a second after it changes. Texts are cut to maxSelfText bytes.
type Self struct {
	State State
	// Remoting is where clients and brokers reach it, ip:port; Admin where its HTTP side is, "" for nowhere.
	Remoting, Admin string
	Version         string
}

// maxSelfText keeps what is said within memberlist's 512 bytes.
const maxSelfText = 128

// appendSelf appends what memberlist carries for us: version, run, Self.
func appendSelf(dst []byte, run uint64, s Self) []byte {
	dst = append(dst, messageVersion)
	dst = binary.LittleEndian.AppendUint64(dst, run)
	dst = append(dst, byte(s.State))
	for _, text := range []string{s.Remoting, s.Admin, s.Version} {
		dst = appendText(dst, text[:min(len(text), maxSelfText)])
	}
	return dst
}

func parseSelf(b []byte) (run uint64, s Self, err error) {
	r := read(b)
	if version := r.Byte(); r.Err() == nil && version != messageVersion {
		r.Fail(errUnknown)
	}
	run = r.Fixed()
	s.State = State(r.Byte())
	s.Remoting, s.Admin, s.Version = r.Text(maxSelfText), r.Text(maxSelfText), r.Text(maxSelfText)
	if r.Err() != nil {
		return 0, Self{}, r.Err()
	}
	return run, s, nil
}

// Digest sums up what a nameserver holds of what all should hold alike. Equal digests mean equal tables.
type Digest struct {
	Routes uint64 // brokers with their addresses, and their topics with their queues
	KV     uint64
	// What Routes is made of.
	Brokers, Topics int
}

func (d Digest) append(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, d.Routes)
	dst = binary.LittleEndian.AppendUint64(dst, d.KV)
	dst = binary.AppendUvarint(dst, uint64(d.Brokers))
	return binary.AppendUvarint(dst, uint64(d.Topics))
}

func (r *reader) digest() Digest {
	return Digest{Routes: r.Fixed(), KV: r.Fixed(), Brokers: int(min(r.Uvarint(), 1<<40)), Topics: int(min(r.Uvarint(), 1<<40))}
}

// recent are the digests of the last while, the newest last. What two nameservers held at about the same time is compared, since a change doesn't come
// to both at once.
type recent struct{ entries []dated }

type dated struct {
	digest uint64
	until  int64 // it was held until then
}

const maxRecent = 64

// hold notes what is held at now, and forgets what was held no later than since.
func (r *recent) hold(digest uint64, now, since int64) {
	r.entries = slices.DeleteFunc(r.entries, func(d dated) bool { return d.until < since })
	if n := len(r.entries); n > 0 && r.entries[n-1].digest == digest {
		r.entries[n-1].until = now
		return
	}
	if len(r.entries) == maxRecent {
		r.entries = slices.Delete(r.entries, 0, 1)
	}
	r.entries = append(r.entries, dated{digest, now})
}

// held is until when a digest was held, 0 if it wasn't.
func (r *recent) held(digest uint64) (until int64, ok bool) {
	for _, d := range r.entries {
		if d.digest == digest {
			until, ok = max(until, d.until), true
		}
	}
	return until, ok
}

// newest is what is held now; false if nothing has been noted yet.
func (r *recent) newest() (uint64, bool) {
	if len(r.entries) == 0 {
		return 0, false
	}
	return r.entries[len(r.entries)-1].digest, true
}
