package httpside

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strconv"
)

// EventPage is what a Follower got at once.
type EventPage struct {
	Events    []Event
	Missed    uint64 // so many before them were forgotten by the server
	Restarted bool   // they are another process's, from its first on
	More      bool   // there are further ones already
}

type eventsAnswer struct {
	Events       parts[Event]
	Next, Newest *uint64
	Missed       uint64
	Restarted    bool
	Process      string
}

func (a *eventsAnswer) missing() string {
	switch {
	case a.Events == nil:
		return "events"
	case a.Next == nil:
		return "next"
	case a.Newest == nil:
		return "newest"
	case a.Process == "":
		return "process"
	}
	for i := range a.Events {
		if e := &a.Events[i]; e.Seq == 0 || e.Kind == "" {
			return "seq and kind of an event"
		}
	}
	return ""
}

// Follower reads events one after the other, each once. It is used by one goroutine.
type Follower struct {
	client  *Client
	filter  url.Values // kind, broker, topic
	after   uint64
	process string // whose number after is; "": not known yet
}

// Follow returns a follower that begins behind the event with a number.
func (c *Client) Follow(filter url.Values, after uint64) *Follower {
	return &Follower{client: c, filter: filter, after: after}
}

// FollowLast returns one that begins with the last n events, counted before the filter.
func (c *Client) FollowLast(ctx context.Context, filter url.Values, n uint64) (*Follower, error) {
	f := c.Follow(filter, 0)
	page, err := f.ask(ctx, 1)
	if err != nil {
		return nil, err
	}
	f.process, f.after = page.Process, *page.Newest-min(n, *page.Newest)
	return f, nil
}

// Next returns the events that came since, a page of them at most. It asks twice at most. After an error it may be called again and goes on
// where it was.
func (f *Follower) Next(ctx context.Context) (EventPage, error) {
	page, err := f.ask(ctx, pageParts)
	if err != nil {
		return EventPage{}, err
	}
	restarted := page.Restarted
	if f.process != "" && page.Process != f.process {
		// The numbers begin anew: what was asked for is somewhere among the new process's events.
		first := page.Process
		f.after, restarted = 0, true
		f.process = restartedAgain // until that has been read: the next call finds another process, and tells of the restart
		if page, err = f.ask(ctx, pageParts); err != nil {
			return EventPage{}, err
		}
		if page.Process != first {
			return EventPage{}, fmt.Errorf("%s: two answers are of two processes: is there more than one behind this address?", f.client.addr)
		}
	}
	f.process = page.Process
	more := *page.Next < *page.Newest
	if more && *page.Next <= f.after && !restarted {
		return EventPage{}, fmt.Errorf("%s: events behind %d go on at %d", f.client.addr, f.after, *page.Next)
	}
	f.after = *page.Next
	return EventPage{page.Events, page.Missed, restarted, more}, nil
}

// restartedAgain is no process's text.
const restartedAgain = "-"

func (f *Follower) ask(ctx context.Context, limit int) (page eventsAnswer, err error) {
	parameters := maps.Clone(f.filter)
	if parameters == nil {
		parameters = url.Values{}
	}
	parameters.Set("after", strconv.FormatUint(f.after, 10))
	parameters.Set("limit", strconv.Itoa(limit))
	_, err = f.client.get(ctx, "events", parameters, &page)
	return page, err
}
