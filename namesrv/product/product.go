// Package product asks the nameservers of the product environment for routes
// that this one lacks (clusterTest=true).
//
// Source: Apache RocketMQ 5.5.0, cluster-test mode and its clients' ways to find nameservers.
// Differs: Apache answers every request code as a route query in that mode, so that
// no broker can register; here only a route that isn't found goes on.
package product

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/remoting"
)

const (
	callTimeout  = 3 * time.Second
	maxAddrBytes = 64 << 10 // of the address server's answer
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
	c, err := remoting.Dial(ctx, addr, remoting.Options{})
	if err != nil {
		return nil, false, err
	}
	defer c.Close()
	h := codec.Header{Code: codec.RequestGetRouteInfoByTopic, Version: version, ExtFields: []codec.ExtField{{Name: "topic", Value: topic}}}
	err = c.Call(ctx, h, nil, func(answer *codec.Command) error {
		switch answer.Code {
		case codec.ResponseSuccess:
			body = bytes.Clone(answer.Body)
			return nil
		case codec.ResponseTopicNotExist:
			return nil
		}
		return fmt.Errorf("answer of code %d: %s", answer.Code, answer.Remark)
	})
	return body, err == nil && len(body) > 0, err
}
