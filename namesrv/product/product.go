// Package product asks the nameservers of the product environment for routes
// that this one lacks (clusterTest=true).
//
// Source: Apache RocketMQ 5.5.0, cluster-test mode and its clients' ways to find nameservers.
// Differs: Apache answers every request code as a route query in that mode, so that
// no broker can register; here only a route that isn't found goes on.
package product

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

const (
	callTimeout    = 3 * time.Second
	maxAnswerBytes = codec.DefaultMaxFrameBytes
	maxAddrBytes   = 64 << 10 // of the address server's answer
)

// Environment is where the product environment's nameservers are found: a list, or
// an address server that gives one. It is immutable.
type Environment struct {
	addrs []string
	url   string // asked when addrs is empty
}

// Find reads the sources that RocketMQ's clients read, first come first taken: the system property
// rocketmq.namesrv.addr, the variable NAMESRV_ADDR, the address server (rocketmq.namesrv.domain,
// rocketmq.namesrv.domain.subgroup) for the unit named productEnvName.
func Find(property, getenv func(name string) string, unit string) *Environment {
	for _, list := range []string{property("rocketmq.namesrv.addr"), getenv("NAMESRV_ADDR")} {
		if addrs := split(list); len(addrs) > 0 {
			return &Environment{addrs: addrs}
		}
	}
	domain := orDefault(property("rocketmq.namesrv.domain"), "jmenv.tbsite.net")
	if !strings.Contains(domain, ":") {
		domain += ":8080"
	}
	u := url.URL{Scheme: "http", Host: domain, Path: "/rocketmq/" + orDefault(property("rocketmq.namesrv.domain.subgroup"), "nsaddr")}
	if unit != "" {
		u.Path += "-" + unit
		u.RawQuery = "nofix=1"
	}
	return &Environment{url: u.String()}
}

func orDefault(v, def string) string {
	if v == "" {
		return def
	}
	return v
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == ' ' || r == '\n' || r == '\r' })
}

// Route asks one nameserver after the other for a topic's route, in the dialect of the
// client's version. ok is false if the first that answers has none.
func (e *Environment) Route(ctx context.Context, topic string, version int32) (body []byte, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	addrs := e.addrs
	if len(addrs) == 0 {
		if addrs, err = ask(ctx, e.url); err != nil {
			return nil, false, fmt.Errorf("product: %w", err)
		}
	}
	err = errors.New("no nameserver known")
	for _, addr := range addrs {
		if body, ok, err = route(ctx, addr, topic, version); err == nil {
			return body, ok, nil
		}
	}
	return nil, false, fmt.Errorf("product: %w", err)
}

// ask gets the list of nameservers: the first line of the address server's answer.
func ask(ctx context.Context, from string) ([]string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", from, resp.Status)
	}
	line, err := bufio.NewReader(io.LimitReader(resp.Body, maxAddrBytes)).ReadString('\n')
	if err != nil && err != io.EOF {
		return nil, err
	}
	return split(line), nil
}

func route(ctx context.Context, addr, topic string, version int32) (body []byte, ok bool, err error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, false, err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, false, err
		}
	}
	request := codec.AppendFrame(nil, codec.SerializeJSON, &codec.Header{
		Code: codec.RequestGetRouteInfoByTopic, Version: version, Opaque: 1,
		ExtFields: []codec.ExtField{{Name: "topic", Value: topic}},
	}, nil)
	if _, err := conn.Write(request); err != nil {
		return nil, false, err
	}
	return readAnswer(conn)
}

func readAnswer(r io.Reader) (body []byte, ok bool, err error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, false, err
	}
	n, err := codec.FrameLength(head, maxAnswerBytes)
	if err != nil {
		return nil, false, err
	}
	rest, err := io.ReadAll(io.LimitReader(r, int64(n-len(head))))
	if err != nil {
		return nil, false, err
	}
	f, err := codec.ParseFrame(append(head, rest...))
	if err != nil {
		return nil, false, err
	}
	var c codec.Command
	if err := c.Parse(f); err != nil {
		return nil, false, err
	}
	switch c.Code {
	case codec.ResponseSuccess:
		return f.Body, len(f.Body) > 0, nil
	case codec.ResponseTopicNotExist:
		return nil, false, nil
	}
	return nil, false, fmt.Errorf("answer of code %d: %s", c.Code, c.Remark)
}
