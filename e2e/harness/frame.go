package harness

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

const binaryHeader = 1 // the type byte of a frame; 0 is JSON

// frame is one message of the protocol.
type frame struct {
	raw          []byte // all of it
	kind         byte   // of the header
	header, body []byte
}

func readFrame(r io.Reader) (*frame, error) {
	var prefix [8]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	total, word := binary.BigEndian.Uint32(prefix[:4]), binary.BigEndian.Uint32(prefix[4:])
	header := word & 0xff_ffff
	if total < 4 || total > maxAnswerBytes || header > total-4 {
		return nil, fmt.Errorf("frame of %d bytes with a header word %#x", total, word)
	}
	raw := make([]byte, 4+total)
	copy(raw, prefix[:])
	if _, err := io.ReadFull(r, raw[8:]); err != nil {
		return nil, err
	}
	return &frame{raw: raw, kind: prefix[4], header: raw[8 : 8+header], body: raw[8+header:]}, nil
}

// parseBinaryHeader reads a header of the kind ROCKETMQ: code (2 bytes), language (1), version (2), opaque (4), flag (4),
// remark, ext fields; lengths of 4 bytes stand before the remark, the fields and each value, and of 2 before each key.
func parseBinaryHeader(b []byte) (code int, opaque int32, remark string, fields map[string]string, err error) {
	errShort := errors.New("binary header is cut short")
	cut := func(n int) (part []byte) {
		if n < 0 || n > len(b) {
			err, b = errShort, nil
			return make([]byte, 4)
		}
		part, b = b[:n], b[n:]
		return part
	}
	code = int(int16(binary.BigEndian.Uint16(cut(2))))
	cut(1 + 2)
	opaque = int32(binary.BigEndian.Uint32(cut(4)))
	cut(4)
	remark = string(cut(int(binary.BigEndian.Uint32(cut(4)))))
	cut(4)
	fields = map[string]string{}
	for len(b) > 0 && err == nil {
		key := string(cut(int(binary.BigEndian.Uint16(cut(2)))))
		fields[key] = string(cut(int(binary.BigEndian.Uint32(cut(4)))))
	}
	return code, opaque, remark, fields, err
}

func readAnswer(r io.Reader) (*Answer, error) {
	f, err := readFrame(r)
	if err != nil {
		return nil, err
	}
	return parseAnswer(f)
}

func parseAnswer(f *frame) (*Answer, error) {
	answer := &Answer{Body: f.body}
	var err error
	if f.kind == binaryHeader { // a broker that is told to use them answers everybody so
		answer.Code, answer.Opaque, answer.Remark, answer.ExtFields, err = parseBinaryHeader(f.header)
	} else {
		err = json.Unmarshal(f.header, answer)
	}
	if err != nil {
		return nil, fmt.Errorf("header %q: %w", f.header, err)
	}
	return answer, nil
}
