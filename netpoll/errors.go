package netpoll

import (
	"errors"
	"io"
	"os"

	"github.com/waymark-mq/waymark/codec"
)

// Reasons a connection can end for, as LoopHandler.Close gets them. Others are io.EOF (the peer closed), system call
// errors, codec's frame errors, a *ForeignError, and whatever error a handler returned.
var (
	ErrClosed        = errors.New("netpoll: connection closed by this side")
	ErrServerClosed  = errors.New("netpoll: server closed")
	ErrIdle          = errors.New("netpoll: nothing read or written for too long")
	ErrHalfFrame     = errors.New("netpoll: frame not completed in time")
	ErrStalled       = errors.New("netpoll: peer takes no answers")
	ErrTooSlow       = errors.New("netpoll: peer takes its answers too slowly while much is unsent")
	ErrInputOverflow = errors.New("netpoll: more input held than allowed")
	ErrUnsentLimit   = errors.New("netpoll: more unsent bytes than allowed")
	ErrPanic         = errors.New("netpoll: handler panicked")
	ErrTLSHello      = errors.New("netpoll: TLS hello, TLS is off")
	ErrProxyHeader   = errors.New("netpoll: malformed PROXY protocol header")
	ErrDrained       = errors.New("netpoll: server drained, the peer is to go elsewhere")

	ErrNotAdmitted    = errors.New("netpoll: too many new connections of the address that the PROXY protocol header names")
	ErrProxyUntrusted = errors.New("netpoll: PROXY protocol header from an address that isn't trusted with it")
	ErrPlaintext      = errors.New("netpoll: no TLS hello, TLS is required")
	ErrTLSHandshake   = errors.New("netpoll: TLS handshake failed")
	ErrTLSTimeout     = errors.New("netpoll: TLS handshake not completed in time")
	ErrTLSBusy        = errors.New("netpoll: too many TLS handshakes are under way")
	ErrTLSRecord      = errors.New("netpoll: broken off by TLS")
)

// errNotSecure is the end of a connection that something was sent on too early.
var errNotSecure = errors.New("netpoll: sent before the TLS handshake was over")

// closeKind is the small set of reasons that are counted.
type closeKind uint8

const (
	closedByPeer closeKind = iota
	closedByUs
	closedByStop
	closedIdle
	closedHalfFrame
	closedStalled
	closedInputOverflow
	closedUnsentLimit
	closedPanic
	closedTLS
	closedProxy
	closedProxyUntrusted
	closedPlaintext
	closedTLSHandshake
	closedTLSTimeout
	closedTLSBusy
	closedTLSRecord
	closedDrained
	closedNotAdmitted
	closedTooSlow
	closedForeign
	closedBadFrame
	closedSocket
	closedHandler
	closeKinds
)

var closeKindNames = [closeKinds]string{
	"peer", "local", "stop", "idle", "half_frame", "stalled", "input_overflow", "unsent_limit", "panic", "tls",
	"proxy_header", "proxy_untrusted", "plaintext", "tls_handshake", "tls_timeout", "tls_busy", "tls_record", "drained", "not_admitted", "too_slow", "foreign", "bad_frame", "socket_error", "handler_error",
}

// closeReasons holds the reason of each kind up to closedTooSlow, in their order.
var closeReasons = [...]error{
	io.EOF, ErrClosed, ErrServerClosed, ErrIdle, ErrHalfFrame, ErrStalled, ErrInputOverflow, ErrUnsentLimit, ErrPanic,
	ErrTLSHello, ErrProxyHeader, ErrProxyUntrusted, ErrPlaintext, ErrTLSHandshake, ErrTLSTimeout, ErrTLSBusy, ErrTLSRecord,
	ErrDrained, ErrNotAdmitted, ErrTooSlow,
}

// frameReasons are the errors of framing and headers: what isn't our protocol at all.
var frameReasons = [...]error{
	codec.ErrFrameShort, codec.ErrFrameLong, codec.ErrFrameTruncated, codec.ErrFrameHeaderLength, codec.ErrFrameType,
	codec.ErrHeaderSyntax, codec.ErrHeaderUTF8, codec.ErrHeaderNumber, codec.ErrHeaderDepth, codec.ErrHeaderExtFields,
	codec.ErrHeaderFields, codec.ErrHeaderLength,
}

func kindOf(reason error) closeKind {
	for i, known := range closeReasons {
		if errors.Is(reason, known) {
			return closeKind(i)
		}
	}
	if _, ok := errors.AsType[*ForeignError](reason); ok {
		return closedForeign
	}
	for _, known := range frameReasons {
		if errors.Is(reason, known) {
			return closedBadFrame
		}
	}
	if _, ok := errors.AsType[*os.SyscallError](reason); ok {
		return closedSocket
	}
	return closedHandler
}

// EndedByPeer reports whether a reason that LoopHandler.Close got means that the peer or the network ended the connection, and not this side.
func EndedByPeer(reason error) bool {
	kind := kindOf(reason)
	return kind == closedByPeer || kind == closedSocket
}
