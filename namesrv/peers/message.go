package peers

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/waymark-mq/waymark/namesrv/binread"
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

var errUnknown = errors.New("peers: message of a version or kind that isn't known here")

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

// reader takes a message apart.
type reader struct{ binread.Reader }

func read(b []byte) reader { return reader{binread.New(b)} }

// nanos reads a time or an age: neither negative nor so great that two don't add up.
func (r *reader) nanos() int64 {
	n := r.Varint()
	if n < 0 || n > math.MaxInt64/4 {
		r.Fail(binread.ErrNumber)
		return 0
	}
	return n
}

// open reads the beginning of a message; what its kind says is left in r.
func (r *reader) open() (k kind, e envelope) {
	if version := r.Byte(); r.Err() == nil && version != messageVersion {
		r.Fail(errUnknown)
	}
	k = kind(r.Byte())
	if r.Err() == nil && (k < kindBeacon || k > kindAnswer) {
		r.Fail(errUnknown)
	}
	e.From = r.Text(maxNameBytes)
	e.FromRun, e.ToRun = r.Fixed(), r.Fixed()
	e.Stamp, e.Held = r.nanos(), r.nanos()
	e.Seq = r.Uvarint()
	return k, e
}
