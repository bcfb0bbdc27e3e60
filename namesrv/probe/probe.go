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
	"net/netip"
	"syscall"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/access"
	"github.com/waymark-mq/waymark/namesrv/verdict"
	"github.com/waymark-mq/waymark/remoting"
)

// maxAnswerBytes bounds an answer, and so what a link holds; a broker's has some hundred bytes. maxUnasked bounds the frames of a link between two
// answers that are none; a broker sends none.
const maxAnswerBytes, maxUnasked = 64 << 10, 8

// Prober asks brokers. Its methods are for any goroutine.
type Prober struct {
	timeout time.Duration
	reach   reach
	names   *names
}

// New returns a Prober that waits for so long. Besides brokers' own addresses it connects to those of the list.
func New(timeout time.Duration, allow access.List) *Prober {
	return &Prober{timeout: timeout, reach: reach{allow: allow, local: localAddrs}, names: newNames()}
}

// Ask probes a broker, over link if that still works (nil: there is none), otherwise over a new connection. The
// link that it returns is the caller's, to be passed on or closed; it is nil unless the broker has answered.
func (p *Prober) Ask(ctx context.Context, t verdict.Target, link *remoting.Client) (verdict.Result, *remoting.Client) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	if link != nil {
		err := ask(ctx, link)
		if err == nil {
			return answered(link), link
		}
		link.Close() // it may have been idle for too long: that says nothing
		if ctx.Err() != nil || errors.Is(err, remoting.ErrProtocol) {
			return verdict.Result{Outcome: verdict.Silent, Why: err.Error()}, nil
		}
	}
	addrs, err := p.addresses(ctx, t)
	if err == nil {
		link, err = dial(ctx, addrs)
	}
	if err != nil {
		return verdict.Result{Outcome: outcomeOf(err), Why: err.Error()}, nil
	}
	if err := ask(ctx, link); err != nil {
		link.Close()
		return verdict.Result{Outcome: verdict.Silent, Why: err.Error()}, nil
	}
	return answered(link), link
}

func answered(link *remoting.Client) verdict.Result {
	return verdict.Result{Outcome: verdict.Answered, At: link.Peer()}
}

func ask(ctx context.Context, link *remoting.Client) error {
	h := codec.Header{Code: codec.RequestGetSystemTopicListFromBroker, Version: codec.ServerVersion}
	return link.Call(ctx, h, nil, func(*codec.Command) error { return nil })
}

// dial connects to the first of the addresses that takes it; each has its share of the time. Of several all must refuse, and so the last error
// that isn't a refusal is returned.
func dial(ctx context.Context, addrs []netip.AddrPort) (link *remoting.Client, failure error) {
	deadline, _ := ctx.Deadline()
	for i, a := range addrs {
		part, cancel := context.WithTimeout(ctx, time.Until(deadline)/time.Duration(len(addrs)-i))
		link, err := remoting.Dial(part, a.String(), remoting.Options{MaxFrameBytes: maxAnswerBytes, MaxUnasked: maxUnasked})
		cancel()
		if err == nil {
			return link, nil
		}
		if failure == nil || !errors.Is(err, syscall.ECONNREFUSED) {
			failure = err
		}
	}
	return nil, failure
}

// outcomeOf says what it means that there was no connection.
func outcomeOf(err error) verdict.Outcome {
	if errors.Is(err, errForbidden) {
		return verdict.Forbidden
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return verdict.Rejected
	}
	if errors.Is(err, errNoAddress) {
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
