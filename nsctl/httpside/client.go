// Package httpside reads the HTTP side of a Waymark nameserver: its API, its metrics, and the drain.
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
)

// maxAnswerBytes bounds an answer. A page of a thousand parts has some 400 KB, metrics of 1,000 brokers as much.
const maxAnswerBytes = 32 << 20

// Client asks one HTTP side. Its methods are for any goroutine. Their errors name its address.
type Client struct {
	addr string // host:port
	http http.Client
}

// New returns a client of host:port. Timeout bounds each answer. Redirects aren't followed, and no proxy is asked.
func New(addr string, timeout time.Duration) *Client {
	return &Client{addr: addr, http: http.Client{
		Timeout:       timeout,
		Transport:     &http.Transport{DialContext: (&net.Dialer{Timeout: timeout}).DialContext, MaxIdleConnsPerHost: 1},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Addr is the address as given.
func (c *Client) Addr() string { return c.addr }

// StatusError is an answer of another status than 2xx.
type StatusError struct {
	Status int
	Text   string // as sent; of an API error its message
	Body   []byte // as sent
}

func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Text) }

// Get asks the API for a path below /api/v1/, whose names are already escaped, and reads the answer into a value.
func (c *Client) Get(ctx context.Context, path string, parameters url.Values, into any) error {
	body, err := c.do(ctx, http.MethodGet, "/api/v1/"+path, parameters)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s: /api/v1/%s: %w", c.addr, path, err)
	}
	return nil
}

// Path escapes a name as a part of a path: dots too, which a server would take for folders.
func Path(name string) string { return strings.ReplaceAll(url.PathEscape(name), ".", "%2E") }

// Drain begins a drain.
func (c *Client) Drain(ctx context.Context) error {
	_, err := c.do(ctx, http.MethodPost, "/drain", nil)
	return err
}

// do sends a request and returns the answer's body.
func (c *Client) do(ctx context.Context, method, path string, parameters url.Values) ([]byte, error) {
	target := "http://" + c.addr + path
	if len(parameters) > 0 {
		target += "?" + parameters.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.addr, err)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.addr, cause(err))
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %s: %w", c.addr, path, err)
	case len(body) > maxAnswerBytes:
		return nil, fmt.Errorf("%s: %s: answer over %d bytes", c.addr, path, maxAnswerBytes)
	case answer.StatusCode/100 != 2:
		return nil, fmt.Errorf("%s: %w", c.addr, &StatusError{answer.StatusCode, message(body), body})
	}
	return body, nil
}

// cause leaves out the method and URL that net/http puts in front.
func cause(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// message is what an error's body says.
func message(body []byte) string {
	var e struct{ Error struct{ Message string } }
	if json.Unmarshal(body, &e) == nil && e.Error.Message != "" {
		return e.Error.Message
	}
	const most = 200
	text, _, _ := strings.Cut(string(body[:min(len(body), most)]), "\n")
	return text
}
