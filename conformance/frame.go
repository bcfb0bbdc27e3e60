package conformance

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
)

// This package writes and reads frames by itself, plainly and without codec: a
// mistake there must not hide by being made on both sides.

const (
	typeJSON   = 0
	typeBinary = 1

	flagResponse = 1
	flagOneway   = 2

	codeRegisterBroker    = 103
	codeUnregisterBroker  = 104
	codeGetRoute          = 105
	codeQueryDataVersion  = 322
	codeBrokerHeartbeat   = 904
	codeNotifyMinBrokerID = 905

	frameLimit = 16 << 20 // bytes, with the length field
)

// header is a request header as a step describes it.
type header struct {
	Code, Flag, Opaque, Version int32
	Language                    any               // name or number; nil: JAVA
	Ext                         map[string]string // nil: absent
}

func (h *header) encode(headerType byte) ([]byte, error) {
	if headerType == typeBinary {
		return h.encodeBinary()
	}
	m := map[string]any{"code": h.Code, "flag": h.Flag, "language": "JAVA", "opaque": h.Opaque,
		"serializeTypeCurrentRPC": "JSON", "version": h.Version}
	if h.Language != nil {
		m["language"] = h.Language
	}
	if h.Ext != nil {
		m["extFields"] = h.Ext
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(m)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func (h *header) encodeBinary() ([]byte, error) {
	language := byte(0)
	switch l := h.Language.(type) {
	case nil:
	case float64:
		language = byte(l)
	default:
		return nil, fmt.Errorf("conformance: language %v in a binary header is no number", l)
	}
	names := make([]string, 0, len(h.Ext))
	for name := range h.Ext {
		names = append(names, name)
	}
	sort.Strings(names)
	var ext []byte
	for _, name := range names {
		ext = binary.BigEndian.AppendUint16(ext, uint16(len(name)))
		ext = append(ext, name...)
		ext = binary.BigEndian.AppendUint32(ext, uint32(len(h.Ext[name])))
		ext = append(ext, h.Ext[name]...)
	}
	b := binary.BigEndian.AppendUint16(nil, uint16(h.Code))
	b = append(b, language)
	b = binary.BigEndian.AppendUint16(b, uint16(h.Version))
	b = binary.BigEndian.AppendUint32(b, uint32(h.Opaque))
	b = binary.BigEndian.AppendUint32(b, uint32(h.Flag))
	b = binary.BigEndian.AppendUint32(b, 0) // no remark
	b = binary.BigEndian.AppendUint32(b, uint32(len(ext)))
	return append(b, ext...), nil
}

func appendFrame(dst []byte, headerType byte, header, body []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(4+len(header)+len(body)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(headerType)<<24|uint32(len(header)))
	dst = append(dst, header...)
	return append(dst, body...)
}

// readFrame reads one whole frame, its length field included.
func readFrame(r io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(length[:])
	if n < 4 || n > frameLimit-4 {
		return nil, fmt.Errorf("conformance: frame length %d", n)
	}
	f := make([]byte, 4+n)
	copy(f, length[:])
	_, err := io.ReadFull(r, f[4:])
	return f, err
}

// Answer is a frame as a peer sees it.
type Answer struct {
	Closed     bool // the connection ended instead
	Code, Flag int32
	Type       byte
	Opaque     int32
	Remark     string
	HasRemark  bool
	Ext        map[string]string // nil: absent
	Body       []byte
	Header     []byte // as it came
}

// splitFrame tells a whole frame's header and body apart.
func splitFrame(f []byte) (*Answer, error) {
	if len(f) < 8 {
		return nil, fmt.Errorf("conformance: frame of %d bytes", len(f))
	}
	word := binary.BigEndian.Uint32(f[4:])
	size := int(word & 0xffffff)
	if 8+size > len(f) {
		return nil, fmt.Errorf("conformance: header length %d in a frame of %d bytes", size, len(f))
	}
	return &Answer{Type: byte(word >> 24), Header: f[8 : 8+size], Body: f[8+size:]}, nil
}

// parseAnswer decodes a frame strictly: what no Apache server would write is an error.
func parseAnswer(f []byte) (*Answer, error) {
	a, err := splitFrame(f)
	if err != nil {
		return nil, err
	}
	switch a.Type {
	case typeJSON:
		return a, a.parseJSON()
	case typeBinary:
		return a, a.parseBinary()
	}
	return nil, fmt.Errorf("conformance: header type %d", a.Type)
}

func (a *Answer) parseJSON() error {
	var h struct {
		Code, Flag, Opaque, Version *int32
		Language                    *string
		Remark                      *string
		ExtFields                   map[string]string
		SerializeTypeCurrentRPC     *string
	}
	d := json.NewDecoder(bytes.NewReader(a.Header))
	d.DisallowUnknownFields()
	if err := d.Decode(&h); err != nil {
		return fmt.Errorf("conformance: header %s: %w", a.Header, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, a.Header); err != nil || compact.Len() != len(a.Header) {
		return fmt.Errorf("conformance: header %q is not compact JSON", a.Header)
	}
	if h.Code == nil || h.Flag == nil || h.Opaque == nil || h.Version == nil {
		return fmt.Errorf("conformance: header %s lacks a number", a.Header)
	}
	if h.Language == nil || *h.Language != "JAVA" || h.SerializeTypeCurrentRPC == nil || *h.SerializeTypeCurrentRPC != "JSON" {
		return fmt.Errorf("conformance: header %s: language or serializeTypeCurrentRPC", a.Header)
	}
	a.Code, a.Flag, a.Opaque, a.Ext = *h.Code, *h.Flag, *h.Opaque, h.ExtFields
	if h.Remark != nil {
		a.Remark, a.HasRemark = *h.Remark, true
	}
	return nil
}

var errShort = errors.New("conformance: binary header ends early")

func (a *Answer) parseBinary() error {
	h := a.Header
	if len(h) < 21 {
		return errShort
	}
	a.Code = int32(int16(binary.BigEndian.Uint16(h)))
	a.Opaque = int32(binary.BigEndian.Uint32(h[5:]))
	a.Flag = int32(binary.BigEndian.Uint32(h[9:]))
	remark, rest, err := takeBytes(h[13:], 4)
	if err != nil {
		return err
	}
	a.Remark, a.HasRemark = string(remark), len(remark) > 0
	ext, rest, err := takeBytes(rest, 4)
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return fmt.Errorf("conformance: %d bytes after a binary header", len(rest))
	}
	for len(ext) > 0 {
		var name, value []byte
		if name, ext, err = takeBytes(ext, 2); err != nil {
			return err
		}
		if value, ext, err = takeBytes(ext, 4); err != nil {
			return err
		}
		if a.Ext == nil {
			a.Ext = map[string]string{}
		}
		a.Ext[string(name)] = string(value)
	}
	return nil
}

// takeBytes takes a length of width bytes and what it announces off b.
func takeBytes(b []byte, width int) (taken, rest []byte, err error) {
	if len(b) < width {
		return nil, nil, errShort
	}
	n := uint64(0)
	for _, c := range b[:width] {
		n = n<<8 | uint64(c)
	}
	if n > uint64(len(b)-width) {
		return nil, nil, errShort
	}
	return b[width : width+int(n)], b[width+int(n):], nil
}
