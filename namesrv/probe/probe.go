// Package probe asks brokers whether they are there, in their own protocol, on connections of its own.
//
// The request is GET_SYSTEM_TOPIC_LIST_FROM_BROKER (305): brokers of 4.9.7, 5.3.3 and 5.5.0 answer it from memory with some 300 bytes, change
// nothing for it and log nothing, where others of the kind write a line each time (38, 203) or need a topic (30). A broker that
// refuses it for want of credentials has answered, too.
package probe

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/verdict"
	"github.com/waymark-mq/waymark/remoting"
)

// maxAnswerBytes bounds an answer, and so what a link holds; a broker's has some hundred bytes.
const maxAnswerBytes = 64 << 10

// Ask probes the broker at addr within timeout, over link if that still works (nil: there is none), otherwise over a new connection. The
// link that it returns is the caller's, to be passed on or closed; it is nil unless the broker has answered.
func Ask(ctx context.Context, timeout time.Duration, addr string, link *remoting.Client) (verdict.Result, *remoting.Client) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if link != nil {
		if ask(ctx, link) == nil {
			return verdict.Result{Outcome: verdict.Answered, At: link.Peer()}, link
		}
		link.Close() // it may have been idle for too long: that says nothing
		if ctx.Err() != nil {
			return verdict.Result{Outcome: verdict.Silent}, nil
		}
	}
	link, err := remoting.Dial(ctx, addr, remoting.Options{MaxFrameBytes: maxAnswerBytes})
	if err != nil {
		return verdict.Result{Outcome: outcomeOf(err)}, nil
	}
	if ask(ctx, link) != nil {
		link.Close()
		return verdict.Result{Outcome: verdict.Silent}, nil
	}
	return verdict.Result{Outcome: verdict.Answered, At: link.Peer()}, link
}

func ask(ctx context.Context, link *remoting.Client) error {
	h := codec.Header{Code: codec.RequestGetSystemTopicListFromBroker, Version: codec.ServerVersion}
	return link.Call(ctx, h, nil, func(*codec.Command) error { return nil })
}

// outcomeOf says what a connection that wasn't made means.
func outcomeOf(err error) verdict.Outcome {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return verdict.Rejected
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return verdict.Impossible
	}
	for _, silent := range []error{context.DeadlineExceeded, syscall.ETIMEDOUT, syscall.EHOSTUNREACH, syscall.EHOSTDOWN, syscall.ECONNRESET} {
		if errors.Is(err, silent) {
			return verdict.Silent
		}
	}
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() {
		return verdict.Silent
	}
	return verdict.Impossible
}
