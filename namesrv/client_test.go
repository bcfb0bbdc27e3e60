package namesrv

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// request is a command to be sent.
type request struct {
	code    int32
	fields  []codec.ExtField // nil: absent
	body    string
	version int32
	flag    int32
	form    codec.SerializeType
}

// ask makes a request of the newest version with fields given as name, value, name, value.
func ask(code int32, fields ...string) request {
	r := request{code: code, version: codec.ServerVersion}
	for i := 0; i+1 < len(fields); i += 2 {
		r.fields = append(r.fields, codec.ExtField{Name: fields[i], Value: fields[i+1]})
	}
	return r
}

func (r request) with(body string) request   { r.body = body; return r }
func (r request) from(version int32) request { r.version = version; return r }
func (r request) oneway() request            { r.flag = codec.FlagOneway; return r }

func (r request) frame(opaque int32) []byte {
	return codec.AppendFrame(nil, r.form, &codec.Header{
		Code: r.code, Flag: r.flag, Opaque: opaque, Version: r.version, ExtFields: r.fields,
	}, []byte(r.body))
}

// client is a peer's connection, used by one goroutine.
type client struct {
	t      *testing.T
	conn   net.Conn
	r      *bufio.Reader
	opaque int32
	early  map[int32]*answer // came before they were asked for
}

func (s *testServer) dial() *client {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return &client{t: s.t, conn: conn, r: bufio.NewReader(conn), early: map[int32]*answer{}}
}

func (c *client) close() { _ = c.conn.Close() }

// send writes requests at once and returns the opaque of the last.
func (c *client) send(requests ...request) int32 {
	c.t.Helper()
	var b []byte
	for _, r := range requests {
		c.opaque++
		b = append(b, r.frame(c.opaque)...)
	}
	if _, err := c.conn.Write(b); err != nil {
		c.t.Fatal(err)
	}
	return c.opaque
}

// call sends a request and waits for its answer.
func (c *client) call(r request) *answer {
	c.t.Helper()
	return c.wait(c.send(r))
}

// want sends a request and compares its answer, written as answer.String does.
func (c *client) want(r request, want string) {
	c.t.Helper()
	if got := c.call(r).String(); got != want {
		c.t.Errorf("code %d %v\n got %s\nwant %s", r.code, r.fields, got, want)
	}
}

// wait waits for the answer to one request.
func (c *client) wait(opaque int32) *answer {
	c.t.Helper()
	for {
		if a, ok := c.early[opaque]; ok {
			delete(c.early, opaque)
			return a
		}
		a, err := c.next()
		if err != nil {
			c.t.Fatalf("answer %d: %v", opaque, err)
		}
		c.early[a.opaque] = a
	}
}

func (c *client) next() (*answer, error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(waitLimit))
	return readAnswer(c.r)
}

// wantClosed waits until the server ends the connection.
func (c *client) wantClosed() {
	c.t.Helper()
	a, err := c.next()
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		c.t.Fatalf("the connection was to end; got answer %v, error %v", a, err)
	}
}

// answer is a response frame as a peer sees it.
type answer struct {
	form               codec.SerializeType
	code, opaque, flag int32
	language, version  int32 // language: 0 is JAVA
	remark             *string
	fields             map[string]string // nil: absent
	body               string
}

// String writes all that differs between answers: code "remark" {fields} body.
func (a *answer) String() string {
	parts := []string{fmt.Sprint(a.code)}
	if a.remark != nil {
		parts = append(parts, fmt.Sprintf("%q", *a.remark))
	}
	if a.fields != nil {
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(a.fields)) {
			fields = append(fields, name+"="+a.fields[name])
		}
		parts = append(parts, "{"+strings.Join(fields, " ")+"}")
	}
	if a.body != "" {
		parts = append(parts, a.body)
	}
	return strings.Join(parts, " ")
}

// readAnswer reads one frame and checks what every answer has in common.
func readAnswer(r io.Reader) (*answer, error) {
	var prefix [8]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	length := int(binary.BigEndian.Uint32(prefix[:]))
	headerLength := int(binary.BigEndian.Uint32(prefix[4:]) & 0xffffff)
	rest := make([]byte, length-4)
	if _, err := io.ReadFull(r, rest); err != nil {
		return nil, err
	}
	if headerLength > len(rest) {
		return nil, fmt.Errorf("header of %d bytes in a frame of %d", headerLength, length)
	}
	a := &answer{form: codec.SerializeType(prefix[4]), body: string(rest[headerLength:])}
	parse := a.parseJSON
	if a.form == codec.SerializeROCKETMQ {
		parse = a.parseBinary
	}
	if err := parse(rest[:headerLength]); err != nil {
		return nil, fmt.Errorf("header %q: %w", rest[:headerLength], err)
	}
	if a.flag != 1 || a.language != 0 || a.version != 513 {
		return nil, fmt.Errorf("header %q: want flag 1, language JAVA, version 513", rest[:headerLength])
	}
	return a, nil
}

func (a *answer) parseJSON(header []byte) error {
	var h struct {
		Code, Flag, Opaque, Version int32
		Language                    string
		Remark                      *string
		ExtFields                   map[string]string
		SerializeTypeCurrentRPC     string
	}
	if err := json.Unmarshal(header, &h); err != nil {
		return err
	}
	if h.Language != "JAVA" || h.SerializeTypeCurrentRPC != "JSON" {
		return errors.New("want language JAVA and serializeTypeCurrentRPC JSON")
	}
	a.code, a.flag, a.opaque, a.version = h.Code, h.Flag, h.Opaque, h.Version
	a.remark, a.fields = h.Remark, h.ExtFields
	return nil
}

func (a *answer) parseBinary(h []byte) error {
	if len(h) < 21 {
		return io.ErrUnexpectedEOF
	}
	be := binary.BigEndian
	a.code, a.language, a.version = int32(int16(be.Uint16(h))), int32(h[2]), int32(be.Uint16(h[3:]))
	a.opaque, a.flag = int32(be.Uint32(h[5:])), int32(be.Uint32(h[9:]))
	take := func(n int) (b []byte) {
		b, h = h[:n], h[n:]
		return b
	}
	take(13)
	if n := int(be.Uint32(take(4))); n > 0 {
		remark := string(take(n))
		a.remark = &remark
	}
	if n := int(be.Uint32(take(4))); n != len(h) {
		return fmt.Errorf("%d bytes of fields, want %d", len(h), n)
	}
	for len(h) > 0 {
		if a.fields == nil {
			a.fields = map[string]string{}
		}
		name := string(take(int(be.Uint16(take(2)))))
		a.fields[name] = string(take(int(be.Uint32(take(4)))))
	}
	return nil
}
