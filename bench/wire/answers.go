package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/waymark-mq/waymark/codec"
)

// ErrFrame says that a stream is none of frames.
var ErrFrame = errors.New("wire: not a frame")

const maxFrameBytes = 256 << 20

// Answer is what is looked at in an answer.
type Answer struct {
	Code   int32
	Opaque int32
	Bytes  int // the whole frame
}

// Stream cuts the answers out of a connection's bytes. Bodies are skipped and never kept. The zero value is ready.
type Stream struct {
	Pushed int64 // requests of the server's, skipped

	head    []byte // an answer's beginning, as long as its header is not complete
	rest    int    // bytes of the current answer that are still to come
	current Answer
	skipped bool // current is a request of the server's
}

// Next takes the next answer that ends within b, and returns what follows it. When none does, b is used up and ok false.
func (s *Stream) Next(b []byte) (a Answer, rest []byte, ok bool, err error) {
	for {
		if s.rest == 0 {
			begun := false
			if b, begun, err = s.begin(b); err != nil || !begun {
				return Answer{}, nil, false, err
			}
		}
		n := min(s.rest, len(b))
		s.rest -= n
		b = b[n:]
		if s.rest > 0 {
			return Answer{}, nil, false, nil
		}
		if !s.skipped {
			return s.current, b, true, nil
		}
	}
}

// begin reads an answer's header and sets what remains of the frame.
func (s *Stream) begin(b []byte) (rest []byte, begun bool, err error) {
	if len(s.head) == 0 {
		want, err := headBytes(b)
		if err != nil {
			return nil, false, err
		}
		if len(b) >= want {
			s.open(b[:want])
			return b[want:], true, nil
		}
	}
	for len(b) > 0 {
		want, err := headBytes(s.head)
		if err != nil {
			return nil, false, err
		}
		n := min(want-len(s.head), len(b))
		s.head = append(s.head, b[:n]...)
		b = b[n:]
		if want, err = headBytes(s.head); err != nil {
			return nil, false, err
		}
		if len(s.head) == want && want > prefixBytes {
			s.open(s.head)
			s.head = s.head[:0]
			return b, true, nil
		}
	}
	return nil, false, nil
}

const prefixBytes = 8 // length, header type, header length

// headBytes is the number of bytes up to the end of the header, as far as it can be told: at least a prefix.
func headBytes(b []byte) (int, error) {
	if len(b) < prefixBytes {
		return prefixBytes, nil
	}
	length := binary.BigEndian.Uint32(b)
	header := binary.BigEndian.Uint32(b[4:]) & 0xffffff
	if length < 4+header || length > maxFrameBytes || b[4] > byte(codec.SerializeROCKETMQ) || header == 0 {
		return 0, fmt.Errorf("%w: length %d, header type %d, header length %d", ErrFrame, length, b[4], header)
	}
	return prefixBytes + int(header), nil
}

// open takes a frame's beginning, up to the end of its header.
func (s *Stream) open(head []byte) {
	total := 4 + int(binary.BigEndian.Uint32(head))
	s.rest = total - len(head)
	s.current.Bytes = total
	flag := int32(0)
	if head[4] == byte(codec.SerializeROCKETMQ) {
		s.current.Code, s.current.Opaque, flag = binaryHeader(head[prefixBytes:])
	} else {
		h := head[prefixBytes:]
		s.current.Code, s.current.Opaque, flag = number(h, codeKey), number(h, opaqueKey), number(h, flagKey)
	}
	s.skipped = flag&codec.FlagResponse == 0
	if s.skipped {
		s.Pushed++
	}
}

// The keys of a JSON header. None can occur within its text, where quotes are escaped.
var codeKey, opaqueKey, flagKey = []byte(`"code":`), []byte(`"opaque":`), []byte(`"flag":`)

// number returns the integer that follows key; -1 if there is none.
func number(header, key []byte) int32 {
	at := bytes.Index(header, key)
	if at < 0 {
		return -1
	}
	digits := header[at+len(key):]
	negative := len(digits) > 0 && digits[0] == '-'
	if negative {
		digits = digits[1:]
	}
	n := int32(0)
	for _, c := range digits {
		if c < '0' || c > '9' {
			break
		}
		n = n*10 + int32(c-'0')
	}
	if negative {
		return -n
	}
	return n
}

// binaryHeader returns code, opaque and flag of a binary header; a short one has code -1.
func binaryHeader(h []byte) (code, opaque, flag int32) {
	if len(h) < 13 {
		return -1, -1, codec.FlagResponse
	}
	return int32(int16(binary.BigEndian.Uint16(h))), int32(binary.BigEndian.Uint32(h[5:])), int32(binary.BigEndian.Uint32(h[9:]))
}
