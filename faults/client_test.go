//go:build faults && linux

package faults

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// request is a command to be sent. A version of 0 stands for the newest.
type request struct {
	code, version, flag int32
	fields              []codec.ExtField
	body                string
}

// ask makes a request with fields given as name, value, name, value.
func ask(code int32, fields ...string) request {
	r := request{code: code}
	for i := 0; i+1 < len(fields); i += 2 {
		r.fields = append(r.fields, codec.ExtField{Name: fields[i], Value: fields[i+1]})
	}
	return r
}

// with sets a field that the request has to another value.
func (r request) with(name, value string) request {
	for i := range r.fields {
		if r.fields[i].Name == name {
			r.fields[i].Value = value
		}
	}
	return r
}

func route(topic string) request { return ask(codec.RequestGetRouteInfoByTopic, "topic", topic) }

func (r request) append(dst []byte, opaque int32) []byte {
	h := codec.Header{Code: r.code, Flag: r.flag, Opaque: opaque, Version: codec.ServerVersion, ExtFields: r.fields}
	if r.version != 0 {
		h.Version = r.version
	}
	return codec.AppendFrame(dst, codec.SerializeJSON, &h, []byte(r.body))
}

// answer is a response frame.
type answer struct {
	Code, Flag, Opaque int32
	Remark             string
	ExtFields          map[string]string
	body               string
}

// readAnswer reads one answer. io.EOF is an end between two frames; an end inside
// of one is io.ErrUnexpectedEOF.
func readAnswer(r *bufio.Reader) (*answer, error) {
	header, body, err := readFrame(r)
	if err != nil {
		return nil, err
	}
	a := &answer{body: body}
	if err := json.Unmarshal(header, a); err != nil {
		return nil, fmt.Errorf("header %q: %w", header, err)
	}
	if a.Flag&codec.FlagResponse == 0 {
		return nil, fmt.Errorf("header %q: no answer", header)
	}
	return a, nil
}

// readFrame reads one frame with a JSON header; its errors are readAnswer's.
func readFrame(r *bufio.Reader) (header []byte, body string, err error) {
	if _, err := r.Peek(1); err != nil {
		return nil, "", err
	}
	var prefix [8]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, "", cut(err)
	}
	length, headerLength := int(binary.BigEndian.Uint32(prefix[:])), int(binary.BigEndian.Uint32(prefix[4:])) // type 0: JSON
	if length < 4 || length > codec.DefaultMaxFrameBytes || headerLength > length-4 {
		return nil, "", fmt.Errorf("frame of %d bytes with a header of %d", length, headerLength)
	}
	rest := make([]byte, length-4)
	if _, err := io.ReadFull(r, rest); err != nil {
		return nil, "", cut(err)
	}
	return rest[:headerLength], string(rest[headerLength:]), nil
}

// cut names whatever ended a connection inside a frame.
func cut(err error) error { return fmt.Errorf("%w (%w)", io.ErrUnexpectedEOF, err) }

// client is one connection, used by one goroutine.
type client struct {
	t      *testing.T
	conn   net.Conn
	r      *bufio.Reader
	opaque int32
}

func (s *site) dial() *client {
	s.t.Helper()
	c, err := s.tryDial()
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func (s *site) tryDial() (*client, error) {
	conn, err := s.connect()
	if err != nil {
		return nil, err
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return newClient(s.t, conn), nil
}

func newClient(t *testing.T, conn net.Conn) *client {
	return &client{t: t, conn: conn, r: bufio.NewReader(conn)}
}

func (s *site) connect() (net.Conn, error) {
	if s.host != nil {
		return s.host.Dial(s.addr, waitLimit)
	}
	return net.DialTimeout("tcp", s.addr, waitLimit)
}

func (c *client) close() { _ = c.conn.Close() }

func (c *client) send(r request) error {
	c.opaque++
	_, err := c.conn.Write(r.append(nil, c.opaque))
	return err
}

// tryCall sends a request and waits up to limit for its answer.
func (c *client) tryCall(r request, limit time.Duration) (*answer, error) {
	if err := c.send(r); err != nil {
		return nil, err
	}
	return c.next(limit)
}

func (c *client) next(limit time.Duration) (*answer, error) {
	_ = c.conn.SetReadDeadline(time.Now().Add(limit))
	return readAnswer(c.r)
}

// call is tryCall that may not fail.
func (c *client) call(r request) *answer {
	c.t.Helper()
	a, err := c.tryCall(r, waitLimit)
	if err != nil {
		c.t.Fatalf("code %d %v: %v", r.code, r.fields, err)
	}
	if a.Opaque != c.opaque {
		c.t.Fatalf("code %d: opaque %d, want %d", r.code, a.Opaque, c.opaque)
	}
	return a
}

// want is call with the code that is to come.
func (c *client) want(code int32, r request) *answer {
	c.t.Helper()
	a := c.call(r)
	if a.Code != code {
		c.t.Fatalf("code %d %v: answer %d %q, want %d", r.code, r.fields, a.Code, a.Remark, code)
	}
	return a
}

// wantEnd waits for an orderly end of the connection: no reset, no half frame.
func (c *client) wantEnd() {
	c.t.Helper()
	if a, err := c.next(waitLimit); err != io.EOF {
		c.t.Fatalf("answer %+v, error %v; want the end of the connection", a, err)
	}
}
