// Package httpside reads the HTTP side of a Waymark nameserver: its API, its metrics, and the drain.
//
// Whatever answers at the address is believed no further than it goes: an answer has a bounded size and comes in a bounded time, and one
// without what a nameserver's always has is ErrNotOurs.
package httpside

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/waymark-mq/waymark/internal/excerpt"
)

const (
	// maxAnswerBytes bounds an answer. A page of a thousand parts has some 400 KB, metrics of 1,000 brokers as much.
	maxAnswerBytes = 16 << 20
	// maxTextBytes bounds what is told of an error's text.
	maxTextBytes = 500
)

// ErrNotOurs says that what answers is no nameserver's HTTP side.
var ErrNotOurs = errors.New("not a Waymark admin API")

// Client asks one HTTP side. Its methods are for any goroutine. Their errors name its address.
type Client struct {
	addr         string // host:port
	timeout      time.Duration
	maxListBytes int
	http         http.Client
}

// New returns a client of host:port. Timeout bounds each answer. Redirects aren't followed, and no proxy is asked.
func New(addr string, timeout time.Duration) *Client {
	return &Client{addr: addr, timeout: timeout, maxListBytes: maxListBytes, http: http.Client{
		Timeout:       timeout,
		Transport:     &http.Transport{DialContext: (&net.Dialer{Timeout: timeout}).DialContext, MaxIdleConnsPerHost: 1},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close ends the connection, which is kept from one question to the next: a nameserver takes a few in all.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Addr is the address as given.
func (c *Client) Addr() string { return c.addr }

// StatusError is an answer of another status than 2xx.
type StatusError struct {
	Status int
	Code   string // of an API error; "": it is none
	Text   string // as sent, but cut; of an API error its message
	Body   []byte // as sent
}

func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Text) }

// NotFound reports whether the API says that there is no such thing. Another's 404 says nothing of it.
func (e *StatusError) NotFound() bool {
	return e.Status == http.StatusNotFound && (e.Code == "not_found" || e.Code == "topic_not_found")
}

// answer is what an answer of the API is read into.
type answer interface {
	// missing is a field that must be there and isn't; "": none.
	missing() string
}

// get asks the API for a path below /api/v1/, whose names are already escaped, and reads the answer. raw is what was sent.
func (c *Client) get(ctx context.Context, path string, parameters url.Values, into answer) (raw json.RawMessage, err error) {
	path = "/api/v1/" + path
	body, _, err := c.do(ctx, http.MethodGet, path, parameters)
	if err != nil {
		return nil, err
	}
	return body, c.read(path, body, into)
}

func (c *Client) read(path string, body []byte, into answer) error {
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s: %s: %w: %w", c.addr, path, ErrNotOurs, err)
	}
	if field := into.missing(); field != "" {
		return fmt.Errorf("%s: %s: %w: no %q in the answer", c.addr, path, ErrNotOurs, field)
	}
	return nil
}

// pathOf escapes a name as a part of a path: dots too, which a server would take for folders.
func pathOf(name string) string { return strings.ReplaceAll(url.PathEscape(name), ".", "%2E") }

// do sends a request and returns the answer's body and status. A status other than 2xx is an error.
func (c *Client) do(ctx context.Context, method, path string, parameters url.Values) (body []byte, status int, err error) {
	// An IPv6 address may have a zone, which url.URL escapes.
	target := (&url.URL{Scheme: "http", Host: c.addr}).String() + path
	if len(parameters) > 0 {
		target += "?" + parameters.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", c.addr, err)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", c.addr, cause(err))
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("%s: %s: %w", c.addr, path, err)
	case len(body) > maxAnswerBytes:
		return nil, 0, fmt.Errorf("%s: %s: answer over %d bytes", c.addr, path, maxAnswerBytes)
	case answer.StatusCode/100 != 2:
		return nil, 0, fmt.Errorf("%s: %w", c.addr, refusal(answer.StatusCode, body))
	}
	return body, answer.StatusCode, nil
}

// cause leaves out the method and URL that net/http puts in front.
func cause(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// refusal is what an answer of another status than 2xx says.
func refusal(status int, body []byte) *StatusError {
	var e struct {
		Error struct{ Code, Message string }
	}
	if json.Unmarshal(body, &e) == nil && e.Error.Message != "" {
		return &StatusError{status, e.Error.Code, excerpt.Of(e.Error.Message, maxTextBytes), body}
	}
	text, _, _ := strings.Cut(excerpt.Of(body, maxTextBytes), "\n")
	return &StatusError{status, "", text, body}
}
