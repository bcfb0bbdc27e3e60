package codec

import (
	"encoding/binary"
	"math"
	"strconv"
)

// ExtField is one ext field of a header to be written.
type ExtField struct{ Name, Value string }

// Header is a header to be written. Its text is UTF-8.
type Header struct {
	Code     int32
	Flag     int32
	Opaque   int32
	Version  int32
	Language Language

	Remark    string
	HasRemark bool
	// ExtFields are written in this order. nil is absent, empty is {} in JSON
	// and absent in the binary form.
	ExtFields []ExtField
}

// AppendFrameStart appends a frame up to its body: the length, which is still
// to be set by FinishFrame, and the header.
//
// The JSON form is Apache's to the letter: alphabetical keys, no blanks, no
// null members. The binary form keeps the low 16 bits of code and version, has
// no empty text (it reads as null), and leaves out a field whose name is longer
// than 32,767 bytes. Should the header not fit its 24-bit length, remark and
// ext fields are left out.
func AppendFrameStart(dst []byte, t SerializeType, h *Header) []byte {
	start := len(dst)
	dst = appendHeader(append(dst, 0, 0, 0, 0, byte(t), 0, 0, 0), t, h)
	if len(dst)-start-framePrefixBytes > maxHeaderBytes {
		bare := *h
		bare.HasRemark, bare.ExtFields = false, nil
		dst = appendHeader(dst[:start+framePrefixBytes], t, &bare)
	}
	setHeaderLength(dst[start:])
	return dst
}

// FinishFrame sets the length of the frame that begins at dst[start] and ends
// with dst, once its body was appended.
func FinishFrame(dst []byte, start int) []byte { return FinishFrameBefore(dst, start, 0) }

// FinishFrameBefore is FinishFrame for a frame of which tail bytes follow elsewhere.
func FinishFrameBefore(dst []byte, start, tail int) []byte {
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-lengthFieldBytes+tail))
	return dst
}

// AppendFrame appends a whole frame.
func AppendFrame(dst []byte, t SerializeType, h *Header, body []byte) []byte {
	start := len(dst)
	return FinishFrame(append(AppendFrameStart(dst, t, h), body...), start)
}

// What stands before and after the opaque of a successful answer without
// remark and fields.
var (
	successJSONHead = "\x00\x00\x00\x00\x00\x00\x00\x00" + `{"code":0,"flag":1,"language":"JAVA","opaque":`
	successJSONTail = `,"serializeTypeCurrentRPC":"JSON","version":` + strconv.Itoa(ServerVersion) + `}`
	successROCKETMQ = string(AppendFrameStart(nil, SerializeROCKETMQ, &Header{Flag: FlagResponse, Version: ServerVersion}))
)

// AppendSuccessStart is AppendFrameStart for the most frequent answer: code 0,
// no remark, no ext fields. It allocates nothing if dst has room for 110 bytes.
func AppendSuccessStart(dst []byte, t SerializeType, opaque int32) []byte {
	start := len(dst)
	if t == SerializeROCKETMQ {
		dst = append(dst, successROCKETMQ...)
		binary.BigEndian.PutUint32(dst[start+framePrefixBytes+5:], uint32(opaque))
		return dst
	}
	dst = append(dst, successJSONHead...)
	dst = strconv.AppendInt(dst, int64(opaque), 10)
	dst = append(dst, successJSONTail...)
	setHeaderLength(dst[start:])
	return dst
}

// setHeaderLength sets the header length of a frame that has no body yet.
func setHeaderLength(frame []byte) {
	n := len(frame) - framePrefixBytes
	frame[5], frame[6], frame[7] = byte(n>>16), byte(n>>8), byte(n)
}

func appendHeader(dst []byte, t SerializeType, h *Header) []byte {
	if t == SerializeROCKETMQ {
		return appendRocketMQHeader(dst, h)
	}
	return appendJSONHeader(dst, h)
}

func appendJSONHeader(dst []byte, h *Header) []byte {
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendInt(dst, int64(h.Code), 10)
	if h.ExtFields != nil {
		dst = append(dst, `,"extFields":{`...)
		for i := range h.ExtFields {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendString(dst, h.ExtFields[i].Name)
			dst = append(dst, ':')
			dst = AppendString(dst, h.ExtFields[i].Value)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `,"flag":`...)
	dst = strconv.AppendInt(dst, int64(h.Flag), 10)
	if int(h.Language) < len(languageNames) {
		dst = append(dst, `,"language":"`...)
		dst = append(dst, languageNames[h.Language]...)
		dst = append(dst, '"')
	}
	dst = append(dst, `,"opaque":`...)
	dst = strconv.AppendInt(dst, int64(h.Opaque), 10)
	if h.HasRemark {
		dst = append(dst, `,"remark":`...)
		dst = AppendString(dst, h.Remark)
	}
	dst = append(dst, `,"serializeTypeCurrentRPC":"JSON","version":`...)
	dst = strconv.AppendInt(dst, int64(h.Version), 10)
	return append(dst, '}')
}

func appendRocketMQHeader(dst []byte, h *Header) []byte {
	be := binary.BigEndian
	dst = be.AppendUint16(dst, uint16(h.Code))
	dst = append(dst, byte(h.Language))
	dst = be.AppendUint16(dst, uint16(h.Version))
	dst = be.AppendUint32(dst, uint32(h.Opaque))
	dst = be.AppendUint32(dst, uint32(h.Flag))
	if h.HasRemark {
		dst = be.AppendUint32(dst, uint32(len(h.Remark)))
		dst = append(dst, h.Remark...)
	} else {
		dst = be.AppendUint32(dst, 0)
	}
	extStart := len(dst)
	dst = be.AppendUint32(dst, 0)
	for i := range h.ExtFields {
		f := &h.ExtFields[i]
		if len(f.Name) > math.MaxInt16 {
			continue
		}
		dst = be.AppendUint16(dst, uint16(len(f.Name)))
		dst = append(dst, f.Name...)
		dst = be.AppendUint32(dst, uint32(len(f.Value)))
		dst = append(dst, f.Value...)
	}
	be.PutUint32(dst[extStart:], uint32(len(dst)-extStart-4))
	return dst
}
