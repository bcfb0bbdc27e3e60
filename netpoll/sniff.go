package netpoll

import (
	"bytes"
	"errors"
)

const (
	sniffBytes   = 12 // no frame of a fresh connection is cut before this many bytes are there; no real one is shorter
	lengthBytes  = 4
	tlsHandshake = 0x16
)

// stage says how far a connection is.
type stage uint8

const (
	stageFresh   stage = iota // waiting for the 12 bytes that tell a PROXY header
	stageProxied              // a PROXY header was read; the next byte tells TLS from frames
	stageFrames
	stageTLS    // the handshake runs
	stageSecure // it is over; the first plain bytes tell a foreigner from frames
)

// sniffed is what the first bytes turned out to be: skip bytes of preamble, perhaps with the address of the real peer.
// With skip 0 and need > 0 more bytes are wanted, need in all.
type sniffed struct {
	skip, need int
	proxy      bool   // a PROXY header, perhaps not all of it, or a malformed one
	source     string // "" keeps the socket's address
	next       stage
}

// sniff looks at the bytes at the head of a connection that is not in stageFrames. Holding back 12 bytes, the detection of
// PROXY headers on every connection and the test of the byte 0x16 behind them are Apache RocketMQ 5.5.0's behaviour
// (NettyRemotingServer.HandshakeHandler, TlsModeHandler).
func sniff(b []byte, st stage) (sniffed, error) {
	if st == stageFresh {
		if len(b) < sniffBytes {
			return sniffed{need: sniffBytes, next: stageFresh}, nil
		}
		switch {
		case bytes.HasPrefix(b, proxyV2Magic):
			s, err := parseProxyV2(b)
			s.proxy = true
			return s, err
		case bytes.HasPrefix(b, proxyV1Magic):
			s, err := parseProxyV1(b)
			s.proxy = true
			return s, err
		}
	}
	if len(b) == 0 {
		return sniffed{need: 1, next: st}, nil
	}
	if b[0] == tlsHandshake {
		return sniffed{}, ErrTLSHello
	}
	return sniffed{next: stageFrames}, nil
}

// preamble looks at b, the head of a connection that is not in stageFrames, and brings it to its next stage, skip bytes on. ok is
// false when more bytes are needed, c.want in all.
func (l *loop) preamble(c *Conn, b []byte) (skip int, ok bool, err error) {
	if err := recognise(b, l.server.opts.MaxFrameBytes); err != nil {
		return 0, false, err
	}
	s, err := sniff(b, c.stage)
	if refused := l.refuses(c, &s, err); refused != nil {
		return 0, false, refused
	}
	if err != nil || s.need > 0 {
		c.want = s.need
		if c.stage == stageFresh && len(b) < sniffBytes { // each byte may tell a foreigner
			c.want = max(lengthBytes, len(b)+1)
		}
		return 0, false, err
	}
	c.stage, c.want = s.next, lengthBytes
	if s.next != stageFrames {
		c.want = 1
	}
	if s.source != "" {
		c.proxied.Store(&s.source)
		if admit := l.server.opts.AdmitNamed; admit != nil && !admit(s.source) {
			l.server.unadmitted.Add(1)
			return 0, false, ErrNotAdmitted
		}
	}
	return s.skip, true, nil
}

// refuses says why c must not go on, whatever sniff made of its head, err included.
func (l *loop) refuses(c *Conn, s *sniffed, err error) error {
	o := &l.server.opts
	switch {
	case s.proxy && o.TrustsProxy != nil && !o.TrustsProxy(c.peer):
		return ErrProxyUntrusted
	case err == nil && s.next == stageFrames && o.RequireTLS:
		return ErrPlaintext
	}
	return nil
}

// sniffSecure looks at the first plain bytes inside TLS: no PROXY header and no further TLS can come there, but a browser can.
func (l *loop) sniffSecure(c *Conn, b []byte) error {
	err := recognise(b, l.server.opts.MaxFrameBytes)
	if f, ok := errors.AsType[*ForeignError](err); ok {
		return &ForeignError{Protocol: f.Protocol + " inside TLS", Meant: f.Meant}
	}
	if len(b) < recogniseBytes {
		c.want = max(lengthBytes, len(b)+1) // each byte may tell
		return err
	}
	c.stage, c.want = stageFrames, lengthBytes
	return err
}
