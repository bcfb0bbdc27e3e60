package codec

import "encoding/binary"

// SerializeType is the form of a frame's header.
type SerializeType uint8

const (
	SerializeJSON     SerializeType = 0
	SerializeROCKETMQ SerializeType = 1 // the binary form
)

const (
	lengthFieldBytes = 4
	framePrefixBytes = 8 // length, type, header length
)

// Frame is one frame taken apart. Header and Body alias the bytes it was cut from.
type Frame struct {
	Type   SerializeType
	Header []byte
	Body   []byte // nil when empty: the protocol knows no difference
}

// FrameLength returns how many bytes the frame has that begins with b, its
// length field included. b holds at least 4 bytes; maxFrameBytes counts the
// length field too.
func FrameLength(b []byte, maxFrameBytes int) (int, error) {
	length := int32(binary.BigEndian.Uint32(b))
	if length < framePrefixBytes-lengthFieldBytes {
		return 0, ErrFrameShort
	}
	if int64(length)+lengthFieldBytes > int64(maxFrameBytes) {
		return 0, ErrFrameLong
	}
	return int(length) + lengthFieldBytes, nil
}

// CheckFrameStart reports what of a frame's first 8 bytes can't be right, whatever
// follows. Fewer bytes are never wrong; the length itself is FrameLength's.
func CheckFrameStart(b []byte) error {
	if len(b) < framePrefixBytes {
		return nil
	}
	if SerializeType(b[4]) > SerializeROCKETMQ {
		return ErrFrameType
	}
	headerBytes := int64(b[5])<<16 | int64(b[6])<<8 | int64(b[7])
	if headerBytes == 0 || headerBytes > int64(binary.BigEndian.Uint32(b))-lengthFieldBytes {
		return ErrFrameHeaderLength
	}
	return nil
}

// ParseFrame cuts b, which is one whole frame, into header and body.
func ParseFrame(b []byte) (Frame, error) {
	if len(b) < framePrefixBytes || int64(binary.BigEndian.Uint32(b)) != int64(len(b)-lengthFieldBytes) {
		return Frame{}, ErrFrameTruncated
	}
	t := SerializeType(b[4])
	if t > SerializeROCKETMQ {
		return Frame{}, ErrFrameType
	}
	bodyStart := framePrefixBytes + (int(b[5])<<16 | int(b[6])<<8 | int(b[7]))
	if bodyStart > len(b) {
		return Frame{}, ErrFrameHeaderLength
	}
	f := Frame{Type: t, Header: b[framePrefixBytes:bodyStart]}
	if bodyStart < len(b) {
		f.Body = b[bodyStart:]
	}
	return f, nil
}
