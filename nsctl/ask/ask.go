// Package ask asks a nameserver, ours or Apache's, by the remoting protocol, and returns what it answers as values.
package ask

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/internal/excerpt"
	"github.com/waymark-mq/waymark/remoting"
)

// ErrNoRoute says that the nameserver knows no route of a topic.
var ErrNoRoute = errors.New("no route")

const (
	// maxAnswerBytes bounds an answer: Apache's clients take 16 MiB, and a list of a million topics has more.
	maxAnswerBytes = 64 << 20
	// A nameserver that is busy (code 2) is asked again, so often and after so long, then twice, thrice as long.
	busyTries = 4
	busyWait  = 100 * time.Millisecond
)

// Options are how a nameserver is asked.
type Options struct {
	TLS *tls.Config // nil: none
	// Timeout bounds the connect, and each answer.
	Timeout time.Duration
}

// Nameserver is a connection to one. Its methods are for any goroutine. Their errors name its address.
type Nameserver struct {
	addr    string
	timeout time.Duration
	client  *remoting.Client
}

// Dial connects to host:port.
func Dial(ctx context.Context, addr string, o Options) (*Nameserver, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	c, err := remoting.Dial(ctx, addr, remoting.Options{TLS: o.TLS, MaxFrameBytes: maxAnswerBytes})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	return &Nameserver{addr: addr, timeout: o.Timeout, client: c}, nil
}

// Addr is the address as dialled.
func (n *Nameserver) Addr() string { return n.addr }

// Close ends the connection.
func (n *Nameserver) Close() { n.client.Close() }

// Clusters asks for brokers and clusters (106).
func (n *Nameserver) Clusters(ctx context.Context) (info *codec.ClusterInfo, err error) {
	err = n.call(ctx, codec.RequestGetBrokerClusterInfo, nil, func(c *codec.Command) error {
		info, err = codec.ParseClusterInfo(c.Body)
		return err
	})
	return info, err
}

// Topics asks for the names of all topics (206). A nameserver with enableAllTopicList=false refuses.
func (n *Nameserver) Topics(ctx context.Context) (topics []string, err error) {
	err = n.call(ctx, codec.RequestGetAllTopicListFromNameserver, nil, func(c *codec.Command) error {
		topics, err = codec.ParseTopicList(c.Body)
		return err
	})
	return topics, err
}

// Route asks for a topic's route (105). Without one the error is ErrNoRoute.
func (n *Nameserver) Route(ctx context.Context, topic string) (route *codec.TopicRouteData, err error) {
	err = n.call(ctx, codec.RequestGetRouteInfoByTopic, []codec.ExtField{{Name: "topic", Value: topic}}, func(c *codec.Command) error {
		route, err = codec.ParseTopicRoute(c.Body)
		return err
	})
	if refused := (*Refusal)(nil); errors.As(err, &refused) && refused.Code == codec.ResponseTopicNotExist {
		return nil, ErrNoRoute
	}
	return route, err
}

// KV asks for the keys and values of a namespace (219). One that isn't there is empty.
func (n *Nameserver) KV(ctx context.Context, namespace string) (table map[string]string, err error) {
	err = n.call(ctx, codec.RequestGetKVListByNamespace, []codec.ExtField{{Name: "namespace", Value: namespace}}, func(c *codec.Command) error {
		table, err = codec.ParseKVTable(c.Body)
		return err
	})
	if refused := (*Refusal)(nil); errors.As(err, &refused) && refused.Code == codec.ResponseQueryNotFound {
		return map[string]string{}, nil
	}
	return table, err
}

// Refusal is an answer of another code than success.
type Refusal struct {
	Code   int32
	Remark string // as sent, but cut
}

func (r *Refusal) Error() string { return fmt.Sprintf("answer of code %d: %s", r.Code, r.Remark) }

// maxRemarkBytes bounds what is told of a remark: Apache's may hold a stack.
const maxRemarkBytes = 500

// call asks once, and again while the nameserver is busy. use is called with a successful answer.
func (n *Nameserver) call(ctx context.Context, code int32, fields []codec.ExtField, use func(*codec.Command) error) error {
	for try := 1; ; try++ {
		err := n.callOnce(ctx, code, fields, use)
		refused := (*Refusal)(nil)
		if try < busyTries && errors.As(err, &refused) && refused.Code == codec.ResponseSystemBusy && pause(ctx, time.Duration(try)*busyWait) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s: %w", n.addr, err)
		}
		return nil
	}
}

func (n *Nameserver) callOnce(ctx context.Context, code int32, fields []codec.ExtField, use func(*codec.Command) error) error {
	ctx, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	h := codec.Header{Code: code, Language: codec.LanguageGo, Version: codec.ServerVersion, ExtFields: fields}
	return n.client.Call(ctx, h, nil, func(c *codec.Command) error {
		if c.Code != codec.ResponseSuccess {
			return &Refusal{c.Code, excerpt.Of(c.Remark, maxRemarkBytes)}
		}
		return use(c)
	})
}

// pause reports whether ctx let it be.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
