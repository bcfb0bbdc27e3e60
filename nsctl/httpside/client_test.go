package httpside

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// always answers 200 with a body.
func always(body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) })
}

func status(code int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	})
}

// What has not the fields that a nameserver's answer always has is not believed, whatever JSON it is.
func TestAnswersOfOthers(t *testing.T) {
	for _, body := range []string{`{}`, `[]`, `null`, `"x"`, `<html>`, ``, `{"status":"UP"}`, `{"topic":"T","name":"b"}`, `{"topic":"other","queues":[],"name":"other","members":[]}`} {
		c := serve(t, always(body))
		_, serverErr := c.Server(t.Context())
		_, _, brokerErr := c.Broker(t.Context(), "b")
		_, _, topicErr := c.Topic(t.Context(), "T")
		_, listErr := c.Brokers(t.Context())
		_, drainErr := c.Drain(t.Context())
		for what, err := range map[string]error{"server": serverErr, "broker": brokerErr, "topic": topicErr, "brokers": listErr, "drain": drainErr} {
			if !errors.Is(err, ErrNotOurs) || !strings.Contains(err.Error(), c.Addr()) {
				t.Errorf("%s: %s: %v", what, body, err)
			}
		}
	}
	c := serve(t, always(`{"topic":"T","queues":[],"name":"b","members":[]}`))
	if topic, raw, err := c.Topic(t.Context(), "T"); err != nil || topic.Topic != "T" || len(raw) == 0 {
		t.Errorf("%+v, %s, %v", topic, raw, err)
	}
	if b, _, err := c.Broker(t.Context(), "b"); err != nil || b.Name != "b" {
		t.Errorf("%+v, %v", b, err)
	}
}

// Only the API's own 404 says that there is no such thing; what errors say is cut.
func TestStatusErrors(t *testing.T) {
	long := strings.Repeat("ü", 10_000)
	for _, tt := range []struct {
		name     string
		h        http.Handler
		notFound bool
		text     string
	}{
		{"another's", http.NotFoundHandler(), false, "404 page not found"},
		{"another's JSON", status(404, `{"error":{"code":"nope","message":"no"}}`), false, "no"},
		{"the API's", status(404, `{"error":{"code":"topic_not_found","message":"a tool deleted it"}}`), true, "a tool deleted it"},
		{"other status", status(503, `{"error":{"code":"not_found","message":"busy"}}`), false, "busy"},
		{"long message", status(500, `{"error":{"code":"x","message":"`+long+`"}}`), false, ""},
		{"long text", status(500, long), false, ""},
		{"lines", status(502, "Bad\nGateway"), false, "Bad"},
		{"a redirect", http.RedirectHandler("/elsewhere", http.StatusFound), false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := serve(t, tt.h).Topic(t.Context(), "T")
			var s *StatusError
			if !errors.As(err, &s) || s.NotFound() != tt.notFound || tt.text != "" && s.Text != tt.text || len(err.Error()) > maxTextBytes+100 {
				t.Errorf("%v", err)
			}
		})
	}
}

// An answer has a bounded size and a bounded time.
func TestEndlessAnswer(t *testing.T) {
	endless := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for b := make([]byte, 64<<10); ; {
			if _, err := w.Write(b); err != nil {
				return
			}
		}
	})
	if _, err := serve(t, endless).Requests(t.Context()); err == nil || !strings.Contains(err.Error(), "answer over") {
		t.Error(err)
	}
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for { // a byte now and then
			if _, err := w.Write([]byte(" ")); err != nil || r.Context().Err() != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	}))
	defer slow.Close()
	if _, err := New(strings.TrimPrefix(slow.URL, "http://"), 50*time.Millisecond).Server(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// A drain has begun, or hasn't, only by the word of a nameserver.
func TestDrain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		h     http.Handler
		begun bool
		state string // of an answer
		text  string // of an error
	}{
		{"begun", status(202, `{"begun":true,"state":"draining"}`), true, "draining", ""},
		{"draining already", status(409, `{"begun":false,"state":"draining"}`), false, "draining", ""},
		{"to start", status(409, `{"begun":false,"state":"starting"}`), false, "starting", ""},
		{"200", status(200, `{"begun":true,"state":"draining"}`), false, "", "not a Waymark admin API"},
		{"202 without begun", status(202, `{"state":"draining"}`), false, "", `no "begun"`},
		{"202 that says no", status(202, `{"begun":false,"state":"draining"}`), false, "", "not a Waymark admin API"},
		{"409 that says yes", status(409, `{"begun":true,"state":"draining"}`), false, "", "not a Waymark admin API"},
		{"409 of another", status(409, `conflict`), false, "", "refused: status 409: conflict"},
		{"204", status(204, ``), false, "", "not a Waymark admin API"},
		{"not from here", status(403, "only from this machine\n"), false, "", "refused: status 403: only from this machine"},
		{"not served", http.NotFoundHandler(), false, "", "no drain is served here"},
		{"cut", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), false, "", "isn't known"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := serve(t, tt.h).Drain(t.Context())
			if d != (Drain{tt.begun, tt.state}) || (err == nil) != (tt.text == "") || err != nil && !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	if _, err := New(strings.TrimPrefix(gone.URL, "http://"), time.Second).Drain(t.Context()); err == nil || strings.Contains(err.Error(), "isn't known") {
		t.Error(err)
	}
}

// pages answers a list of brokers that never ends.
type pages struct {
	asked int
	page  func(n int) string
}

func (p *pages) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	p.asked++
	_, _ = io.WriteString(w, p.page(p.asked))
}

// A list that goes on for ever, in whatever way, ends in an error that says why.
func TestEndlessList(t *testing.T) {
	of := func(n int, brokers, next string) string {
		return fmt.Sprintf(`{"brokers":[%s],"next":"%s%09d"}`, brokers, next, n)
	}
	for _, tt := range []struct {
		name string
		page func(n int) string
		want string
		most int // requests
	}{
		{"pages", func(n int) string { return of(n, `{"name":"b","members":[]}`, "b") }, "goes on after 50 pages", maxPages},
		{"bytes", func(n int) string { return of(n, `{"name":"`+strings.Repeat("b", 30_000)+`","members":[]}`, "b") }, "goes on after 120", 4},
		{"addresses", func(n int) string { return of(n, `{"name":"b","members":[`+strings.Repeat("{},", 25_000)+`{}]}`, "b") }, "goes on after 200008 addresses", 8},
		{"no progress", func(int) string { return of(1, `{"name":"b","members":[]}`, "b") }, "goes on behind", 2},
		{"back", func(n int) string { return of(1000-n, `{"name":"b","members":[]}`, "b") }, "goes on behind", 2},
		{"empty pages", func(n int) string { return of(n, "", "b") }, "goes on behind", 1},
		{"more than asked for", func(n int) string {
			return of(n, strings.Repeat(`{"name":"b","members":[]},`, pageParts)+`{"members":[]}`, "b")
		}, "more than 1000 on a page", 1},
		{"no brokers", func(n int) string { return of(n, "{}", "b") }, `no "members"`, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &pages{page: tt.page}
			c := serve(t, h)
			if tt.name == "bytes" {
				c.maxListBytes = 100_000
			}
			all, err := c.Brokers(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) || all != nil || h.asked > tt.most {
				t.Errorf("%d brokers after %d requests, %v", len(all), h.asked, err)
			}
		})
	}
	slow := httptest.NewServer(&pages{page: func(n int) string {
		time.Sleep(40 * time.Millisecond) // each answer is in time, all together aren't
		return of(n, `{"name":"b","members":[]}`, "b")
	}})
	defer slow.Close()
	c := New(strings.TrimPrefix(slow.URL, "http://"), 20*time.Second)
	c.timeout = 10 * time.Millisecond
	if _, err := c.Brokers(t.Context()); err == nil || !strings.Contains(err.Error(), "more than could be read in 100ms") {
		t.Error(err)
	}
	h := &pages{page: func(n int) string {
		if n == 3 {
			return `{"brokers":[{"name":"c","members":[]}]}`
		}
		return of(n, `{"name":"b","members":[]}`, "b")
	}}
	if all, err := serve(t, h).Brokers(t.Context()); err != nil || len(all) != 3 {
		t.Errorf("%+v, %v", all, err)
	}
}

// A name in a path, and an IPv6 address with a zone, are escaped.
func TestTargets(t *testing.T) {
	paths := make(chan string, 1)
	c := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { paths <- r.URL.EscapedPath() }))
	_, _, _ = c.Topic(t.Context(), "%RETRY%a/b..?#")
	if got, want := <-paths, "/api/v1/topics/%25RETRY%25a%2Fb%2E%2E%3F%23"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	_, err := New("[fe80::1%nonet]:1", time.Second).Server(t.Context())
	if err == nil || strings.Contains(err.Error(), "invalid URL") {
		t.Error(err)
	}
}
