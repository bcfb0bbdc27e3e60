// Package api answers HTTP requests below /api/v1/ with JSON: what a nameserver holds, why, and what happened last. It reads
// snapshots and never changes anything; API.md at the top of the repository describes it for its users.
//
// An answer of many parts is a page of at most maxLimit of them, written part by part, so that a request holds no more than one
// part and a buffer. At most maxRequests are answered at a time.
package api

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv"
)

// Prefix is where the handler belongs.
const Prefix = "/api/v1/"

const (
	defaultLimit = 100
	maxLimit     = 1000
	maxRequests  = 8
	// answerTime bounds an answer's way to its reader, and the wait for busy event loops.
	answerTime = 30 * time.Second
)

// Source is the server that is shown; a *namesrv.Server is one. Its methods are called from any goroutine.
type Source interface {
	Snapshot() *core.Snapshot
	Now() int64 // monotonic nanoseconds, in which a snapshot's signs of life are
	Status() namesrv.Status
	Config() iter.Seq[namesrv.ConfigEntry]
	Events(after uint64, limit int, keep func(*namesrv.Event) bool) namesrv.EventPage
	LatestEvents() iter.Seq[*namesrv.Event]
	TopicGone(topic string) namesrv.Gone
	Connections(ctx context.Context, after uint64, limit int) (conns []namesrv.ConnInfo, more bool, err error)
	Connection(ctx context.Context, id uint64) (c namesrv.ConnInfo, ok bool, err error)
	PeerAddr(conn uint64) (addr string, open bool)
	Probed(cluster, addr string) (namesrv.ProbeState, bool)
	Peers() namesrv.PeerList
	PeerDiff(ctx context.Context, name string) (namesrv.PeerDiff, error)
}

// New returns the handler of everything below Prefix.
func New(src Source) http.Handler {
	return &handler{src: src, slots: make(chan struct{}, maxRequests), process: rand.Text()}
}

type handler struct {
	src   Source
	slots chan struct{} // one for each request being answered
	// process tells one run of the server from the next, whose events count from 1 again.
	process string
}

// endpoint is what can be asked for.
type endpoint struct {
	path       string // below Prefix; a part in braces stands for a name
	parameters []string
	serve      func(*request) error
}

// endpoints are filled in by init, since the index lists them.
var endpoints []endpoint

func init() {
	page := []string{"after", "limit"}
	endpoints = []endpoint{
		{"", nil, (*request).index},
		{"server", nil, (*request).server},
		{"config", nil, (*request).config},
		{"clusters", page, (*request).clusters},
		{"brokers", append([]string{"cluster"}, page...), (*request).brokers},
		{"brokers/{name}", nil, (*request).broker},
		{"topics", append([]string{"prefix"}, page...), (*request).topics},
		{"topics/{topic}", nil, (*request).topic},
		{"kv", page, (*request).namespaces},
		{"kv/{namespace}", page, (*request).namespace},
		{"connections", page, (*request).connections},
		{"connections/{id}", nil, (*request).connection},
		{"peers", nil, (*request).peers},
		{"peers/{name}/diff", nil, (*request).peerDiff},
		{"events", append([]string{"kind", "broker", "topic"}, page...), (*request).events},
	}
}

// request is one request being answered.
type request struct {
	*answer
	src        Source
	process    string
	ctx        context.Context
	name       string // the last part of the path, where the endpoint takes one
	parameters url.Values
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := newAnswer(w)
	if err := h.answer(a, r); err != nil {
		a.fail(err)
	}
	a.flush()
}

func (h *handler) answer(a *answer, r *http.Request) error {
	e, name, err := find(r.URL.EscapedPath())
	if err != nil {
		return err
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		a.header().Set("Allow", "GET, HEAD")
		return failure{http.StatusMethodNotAllowed, "method_not_allowed", "nothing here can be changed: use GET"}
	}
	parameters, err := parse(r.URL.RawQuery, e.parameters)
	if err != nil {
		return err
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		a.header().Set("Retry-After", "1")
		return failure{http.StatusServiceUnavailable, "busy", fmt.Sprintf("%d requests are being answered", maxRequests)}
	}
	ctx, cancel := context.WithTimeout(r.Context(), answerTime)
	defer cancel()
	return e.serve(&request{answer: a, src: h.src, process: h.process, ctx: ctx, name: name, parameters: parameters})
}

// find returns the endpoint of an escaped path, and the name in it: names may hold any character, a slash too.
func find(path string) (e *endpoint, name string, err error) {
	rest, ok := strings.CutPrefix(path, Prefix)
	if !ok {
		return nil, "", notFound("nothing but "+Prefix+" is served here: %q", path)
	}
	first, second, named := strings.Cut(rest, "/")
	for i := range endpoints {
		e := &endpoints[i]
		list, rest, takesName := strings.Cut(e.path, "/")
		if list != first || takesName != named {
			continue
		}
		_, end, _ := strings.Cut(rest, "/")
		second, ok := strings.CutSuffix(second, "/"+end)
		if strings.Contains(second, "/") || (end != "" && !ok) {
			break
		}
		if name, err = url.PathUnescape(second); err != nil {
			return nil, "", badRequest("path: %v", err)
		}
		return e, name, nil
	}
	return nil, "", notFound("no such path: %q; %s lists them", path, Prefix)
}

// parse reads a query of which only known parameters may be given, each once.
func parse(query string, known []string) (url.Values, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, badRequest("query: %v", err)
	}
	for name, v := range values {
		if !slices.Contains(known, name) {
			return nil, badRequest("unknown parameter %q; known are %q", name, known)
		}
		if len(v) > 1 {
			return nil, badRequest("parameter %q is given %d times", name, len(v))
		}
	}
	return values, nil
}

// limit is how many parts the page is to have.
func (r *request) limit() (int, error) {
	text := r.parameters.Get("limit")
	if text == "" {
		return defaultLimit, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxLimit {
		return 0, badRequest("limit %q is no number from 1 to %d", text, maxLimit)
	}
	return n, nil
}

// numbered is which part of a numbered list is wanted: behind which number, and how many.
func (r *request) numbered() (after uint64, limit int, err error) {
	if text := r.parameters.Get("after"); text != "" {
		if after, err = strconv.ParseUint(text, 10, 64); err != nil {
			return 0, 0, badRequest("after %q is no number", text)
		}
	}
	limit, err = r.limit()
	return after, limit, err
}

// index lists what can be asked for.
func (r *request) index() error {
	type entry struct {
		Path       string   `json:"path"`
		Parameters []string `json:"parameters,omitempty"`
	}
	r.begin("endpoints")
	for _, e := range endpoints {
		r.item(entry{Prefix + e.path, e.parameters})
	}
	r.end(nil)
	return nil
}
