package httpside

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"strconv"
)

// pageEvents is how many events are asked for at a time: the most that a page has.
const pageEvents = 1000

// EventPage is what a Follower got at once.
type EventPage struct {
	Events    []Event
	Missed    uint64 // so many before them were forgotten by the server
	Restarted bool   // they are another process's, from its first on
	More      bool   // there are further ones already
}

type eventsAnswer struct {
	Events                       []Event
	Next, Oldest, Newest, Missed uint64
	Restarted                    bool
	Process                      string
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
	f.process, f.after = page.Process, page.Newest-min(n, page.Newest)
	return f, nil
}

// Next returns the events that came since, a page of them at most. After an error it may be called again and goes on where it was.
func (f *Follower) Next(ctx context.Context) (EventPage, error) {
	page, err := f.ask(ctx, pageEvents)
	if err != nil {
		return EventPage{}, err
	}
	restarted := page.Restarted
	if f.process != "" && page.Process != f.process {
		// The numbers begin anew: what was asked for is somewhere among the new process's events.
		f.after, restarted = 0, true
		f.process = page.Process
		if page, err = f.ask(ctx, pageEvents); err != nil {
			f.process = restartedAgain // the next call finds another process, and tells of the restart
			return EventPage{}, err
		}
	}
	f.process = page.Process
	more := page.Next < page.Newest
	if more && page.Next <= f.after && !restarted {
		return EventPage{}, fmt.Errorf("%s: events behind %d go on at %d", f.client.addr, f.after, page.Next)
	}
	f.after = page.Next
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
	err = f.client.Get(ctx, "events", parameters, &page)
	return page, err
}
