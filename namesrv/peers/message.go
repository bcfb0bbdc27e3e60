package peers

import (
	"encoding/binary"
	"errors"
	"math"
)

// A message is: version (1 byte), kind (1 byte), the envelope, what the kind says. Numbers are varints, texts have their length in front. What follows
// a message's last field is ignored: later versions may add fields there. A later version that can't be read so has another version byte.
const messageVersion = 1

type kind uint8

const (
	kindBeacon kind = iota + 1
	kindWords
	kindAsk
	kindAnswer
)

// Bounds of what a peer may say.
const (
	maxNameBytes    = 255     // of a nameserver
	maxTextBytes    = 1 << 10 // of a broker's, a cluster's or a topic's name, and of an address
	maxValueBytes   = 300 << 10
	maxMessageBytes = 448 << 10 // inboundBytes has room for it
)

var (
	errShort   = errors.New("peers: message ends early")
	errTooLong = errors.New("peers: text or list in a message is too long")
	errNumber  = errors.New("peers: number in a message is out of range")
	errUnknown = errors.New("peers: message of a version or kind that isn't known here")
)

// envelope begins every message.
type envelope struct {
	From string // the sender's name
	// FromRun and ToRun are drawn by each process: of the sender, and of the receiver as memberlist has told the sender.
	FromRun, ToRun uint64
	// Stamp is the receiver's own time (nanoseconds) out of its last beacon, and Held how long the sender has had it. Only words need them, and
	// aren't sent without.
	Stamp, Held int64
	Seq         uint64 // one more for each message of a process to a receiver
}

func appendText[T string | []byte](dst []byte, text T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(text))), text...)
}

func (e *envelope) append(dst []byte, k kind) []byte {
	dst = append(dst, messageVersion, byte(k))
	dst = appendText(dst, e.From)
	dst = binary.LittleEndian.AppendUint64(dst, e.FromRun)
	dst = binary.LittleEndian.AppendUint64(dst, e.ToRun)
	dst = binary.AppendVarint(dst, e.Stamp)
	dst = binary.AppendVarint(dst, e.Held)
	return binary.AppendUvarint(dst, e.Seq)
}

// reader takes a message apart. Its first error stays, and all that is read then is empty. Texts are copies.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.rest = nil
}

func (r *reader) byte() byte {
	if len(r.rest) == 0 {
		r.fail(errShort)
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

func (r *reader) fixed() uint64 {
	if len(r.rest) < 8 {
		r.fail(errShort)
		return 0
	}
	n := binary.LittleEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return n
}

func (r *reader) uvarint() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail(errShort)
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) varint() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.fail(errShort)
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// nanos reads a time or an age: neither negative nor so great that two don't add up.
func (r *reader) nanos() int64 {
	n := r.varint()
	if n < 0 || n > math.MaxInt64/4 {
		r.fail(errNumber)
		return 0
	}
	return n
}

func (r *reader) text(most int) string {
	n := r.uvarint()
	if n > uint64(most) {
		r.fail(errTooLong)
		return ""
	}
	if n > uint64(len(r.rest)) {
		r.fail(errShort)
		return ""
	}
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}

// count reads how many elements follow, each of at least so many bytes: never more than the message has room for.
func (r *reader) count(least int) int {
	n := r.uvarint()
	if n > uint64(len(r.rest)/least) {
		r.fail(errTooLong)
		return 0
	}
	return int(n)
}

// open reads the beginning of a message; what its kind says is left in r.
func (r *reader) open() (k kind, e envelope) {
	if version := r.byte(); r.err == nil && version != messageVersion {
		r.fail(errUnknown)
	}
	k = kind(r.byte())
	if r.err == nil && (k < kindBeacon || k > kindAnswer) {
		r.fail(errUnknown)
	}
	e.From = r.text(maxNameBytes)
	e.FromRun, e.ToRun = r.fixed(), r.fixed()
	e.Stamp, e.Held = r.nanos(), r.nanos()
	e.Seq = r.uvarint()
	return k, e
}
