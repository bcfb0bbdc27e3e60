package wire

import (
	"encoding/binary"
	"strconv"

	"github.com/waymark-mq/waymark/codec"
)

// Opaques are written with nine digits, so that patching one leaves the length of a JSON frame alone.
const (
	firstOpaque = 100_000_000
	opaques     = 900_000_000
)

// Opaque returns the opaque of the n-th request of a connection.
func Opaque(n uint64) int32 { return int32(firstOpaque + n%opaques) }

// Frames are encoded requests, each to be copied and given an opaque. They are not written to after they are built.
type Frames struct {
	header codec.SerializeType
	bytes  []byte
	ends   []int
	tail   int // from the beginning of the opaque to the end of a frame
}

// Encode encodes n requests without a body; head returns the header of the i-th. All have the same version.
func Encode(header codec.SerializeType, n int, head func(i int) *codec.Header) *Frames {
	f := &Frames{header: header, ends: make([]int, n)}
	for i := range n {
		h := head(i)
		h.Opaque = firstOpaque
		f.bytes = codec.AppendFrame(f.bytes, header, h, nil)
		f.ends[i] = len(f.bytes)
		if header == codec.SerializeJSON {
			f.tail = len(strconv.Itoa(firstOpaque)) + len(`,"serializeTypeCurrentRPC":"JSON","version":}`) + len(strconv.Itoa(int(h.Version)))
		}
	}
	return f
}

// Len is the number of requests.
func (f *Frames) Len() int { return len(f.ends) }

// Append appends request i with that opaque, which is one of Opaque's.
func (f *Frames) Append(dst []byte, i int, opaque int32) []byte {
	start := 0
	if i > 0 {
		start = f.ends[i-1]
	}
	at := len(dst)
	dst = append(dst, f.bytes[start:f.ends[i]]...)
	if f.header == codec.SerializeROCKETMQ {
		const offset = 8 + 5 // of the opaque, after length, header length, code, language and version
		binary.BigEndian.PutUint32(dst[at+offset:], uint32(opaque))
		return dst
	}
	digits := dst[len(dst)-f.tail:][:9]
	for n, d := uint32(opaque), len(digits)-1; d >= 0; d-- {
		digits[d] = byte('0' + n%10)
		n /= 10
	}
	return dst
}
