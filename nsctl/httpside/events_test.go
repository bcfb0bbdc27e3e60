package httpside

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// history answers as the API does, of one process after another.
type history struct {
	process        string
	oldest, newest uint64
	fail           bool // the next answer
	failInNew      bool // the second answer of a process
	limits         int  // events on a page at most; 0: as many as are asked for
	anew           bool // each answer is of another process
	asked          int
}

func (h *history) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.asked++; h.anew {
		h.process = fmt.Sprint("p", h.asked)
	}
	if h.fail {
		h.fail = false
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	h.fail, h.failInNew = h.failInNew, false
	after, _ := strconv.ParseUint(r.FormValue("after"), 10, 64)
	limit, _ := strconv.ParseUint(r.FormValue("limit"), 10, 64)
	if h.limits > 0 {
		limit = min(limit, uint64(h.limits))
	}
	restarted := after > h.newest
	if restarted {
		after = 0
	}
	missed := uint64(0)
	if after+1 < h.oldest && !restarted {
		missed = h.oldest - 1 - after
	}
	next := max(after, h.oldest-1)
	var events []string
	for ; next < h.newest && uint64(len(events)) < limit; next++ {
		events = append(events, fmt.Sprintf(`{"seq":%d,"kind":"changed","text":"%s%d"}`, next+1, h.process, next+1))
	}
	fmt.Fprintf(w, `{"events":[%s],"next":%d,"oldest":%d,"newest":%d,"missed":%d,"restarted":%v,"process":%q}`,
		strings.Join(events, ","), next, h.oldest, h.newest, missed, restarted, h.process)
}

func serve(t *testing.T, h http.Handler) *Client {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return New(strings.TrimPrefix(s.URL, "http://"), 20*time.Second)
}

// all reads on until there is no more, and over errors.
func all(t *testing.T, f *Follower) (texts []string) {
	t.Helper()
	for range 100 {
		page, err := f.Next(t.Context())
		if err != nil {
			texts = append(texts, "error")
			continue
		}
		if page.Restarted {
			texts = append(texts, "restarted")
		}
		if page.Missed > 0 {
			texts = append(texts, fmt.Sprint("missed ", page.Missed))
		}
		for _, e := range page.Events {
			texts = append(texts, e.Text)
		}
		if !page.More {
			return texts
		}
	}
	t.Fatal("there is always more")
	return nil
}

// Each event comes once and none is left out: over pages, gaps, errors, and restarts after which as much has happened as before.
func TestFollow(t *testing.T) {
	h := &history{process: "a", oldest: 1, newest: 5, limits: 2}
	f, err := serve(t, h).FollowLast(t.Context(), url.Values{}, 3)
	if err != nil {
		t.Fatal(err)
	}
	step := func(want ...string) {
		t.Helper()
		if got := all(t, f); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	step("a3", "a4", "a5")
	step()
	h.newest = 6
	step("a6")
	h.fail, h.newest = true, 7
	step("error", "a7")
	h.oldest, h.newest = 10, 11
	step("missed 2", "a10", "a11")
	*h = history{process: "b", oldest: 1, newest: 20, limits: 15} // more than before
	step("restarted", "b1", "b2", "b3", "b4", "b5", "b6", "b7", "b8", "b9", "b10", "b11", "b12", "b13", "b14", "b15", "b16", "b17", "b18", "b19", "b20")
	*h = history{process: "c", oldest: 1, newest: 1} // less
	step("restarted", "c1")
	*h = history{process: "d", oldest: 1, newest: 1, failInNew: true}
	step("error", "restarted", "d1")
	*h = history{process: "e", oldest: 4, newest: 4} // has forgotten some already
	step("restarted", "missed 3", "e4")
}

// Several servers behind one address, of which each answers in turn, are an error, not a loop; what one of them says twice is told.
func TestFollowSeveralServers(t *testing.T) {
	h := &history{process: "a", oldest: 1, newest: 1}
	f, err := serve(t, h).FollowLast(t.Context(), url.Values{}, 3)
	if err != nil {
		t.Fatal(err)
	}
	h.anew, h.asked = true, 0
	for n := 1; n <= 3; n++ {
		if page, err := f.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "more than one behind this address") || h.asked != 2*n {
			t.Errorf("%+v, %v after %d requests", page, err, h.asked)
		}
	}
	*h = history{process: "b", oldest: 1, newest: 1}
	if got, want := all(t, f), []string{"restarted", "b1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A server that makes no progress, or answers what is no page, is an error, not a loop.
func TestFollowHostileServer(t *testing.T) {
	const event = `{"seq":1,"kind":"changed"}`
	for _, body := range []string{
		`{"events":[],"next":0,"newest":5,"process":"p"}`, `{"events":[{"seq":-1}],"next":1,"newest":1,"process":"p"}`, `{"events":[{}],"next":1,"newest":1,"process":"p"}`,
		`{"next":1,"newest":1,"process":"p"}`, `{"events":[],"next":1,"newest":1}`, `{"events":[],"newest":1,"process":"p"}`, `{"events":{},"next":1,"newest":1,"process":"p"}`,
		`{"events":[` + strings.Repeat(event+",", pageParts) + event + `],"next":1,"newest":1,"process":"p"}`, `{}`, `[]`, `null`, `<html>`, ``,
	} {
		f := serve(t, always(body)).Follow(nil, 0)
		if page, err := f.Next(t.Context()); err == nil {
			t.Errorf("%.100q: %+v", body, page)
		}
	}
}
