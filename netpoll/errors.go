package netpoll

import (
	"errors"
	"io"
	"os"

	"github.com/waymark-mq/waymark/codec"
)

// Reasons a connection can end for, as LoopHandler.Close gets them. Others are io.EOF (the peer closed), system call
// errors, codec's frame errors, and whatever error a handler returned.
var (
	ErrClosed        = errors.New("netpoll: connection closed by this side")
	ErrServerClosed  = errors.New("netpoll: server closed")
	ErrIdle          = errors.New("netpoll: nothing read or written for too long")
	ErrHalfFrame     = errors.New("netpoll: frame not completed in time")
	ErrStalled       = errors.New("netpoll: peer takes no answers")
	ErrInputOverflow = errors.New("netpoll: more input held than allowed")
	ErrUnsentLimit   = errors.New("netpoll: more unsent bytes than allowed")
	ErrPanic         = errors.New("netpoll: handler panicked")
	ErrTLSHello      = errors.New("netpoll: TLS hello, TLS is off")
	ErrProxyHeader   = errors.New("netpoll: malformed PROXY protocol header")
	ErrDrained       = errors.New("netpoll: server drained, the peer is to go elsewhere")
)

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
	closedDrained
	closedBadFrame
	closedSocket
	closedHandler
	closeKinds
)

var closeKindNames = [closeKinds]string{
	"peer", "local", "stop", "idle", "half_frame", "stalled", "input_overflow", "unsent_limit", "panic", "tls",
	"proxy_header", "drained", "bad_frame", "socket_error", "handler_error",
}

// closeReasons holds the reason of each kind up to closedDrained, in their order.
var closeReasons = [...]error{
	io.EOF, ErrClosed, ErrServerClosed, ErrIdle, ErrHalfFrame, ErrStalled, ErrInputOverflow, ErrUnsentLimit, ErrPanic,
	ErrTLSHello, ErrProxyHeader, ErrDrained,
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
