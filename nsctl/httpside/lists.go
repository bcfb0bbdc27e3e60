package httpside

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

// Bounds of a list, which comes in pages: what a server that never ends, or lies, can cost.
const (
	pageParts    = 1000 // the most that the API gives at a time
	maxPages     = 50
	maxListBytes = 32 << 20
	maxMembers   = 200_000 // addresses of all brokers
	listTimeouts = 10      // so many times the timeout of an answer
)

// parts are the elements of a page, no more than were asked for.
type parts[T any] []T

// UnmarshalJSON implements json.Unmarshaler. It stops where there are too many: a few bytes each become a struct.
func (p *parts[T]) UnmarshalJSON(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if first, err := d.Token(); err != nil || first != json.Delim('[') {
		return errors.New("no list")
	}
	*p = parts[T]{}
	for d.More() {
		if len(*p) == pageParts {
			return fmt.Errorf("more than %d on a page", pageParts)
		}
		var one T
		if err := d.Decode(&one); err != nil {
			return err
		}
		*p = append(*p, one)
	}
	return nil
}

type brokersPage struct {
	Brokers parts[Broker]
	Next    *string // nil: the last page
}

func (p *brokersPage) missing() string {
	if p.Brokers == nil {
		return "brokers"
	}
	for i := range p.Brokers {
		if field := p.Brokers[i].missing(); field != "" {
			return field
		}
	}
	return ""
}

// Brokers lists all broker names.
func (c *Client) Brokers(ctx context.Context) (all []Broker, err error) {
	limit := listTimeouts * c.timeout
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	bytes, members := 0, 0
	for pages, after := 1, ""; ; pages++ {
		var page brokersPage
		raw, err := c.get(within, "brokers", url.Values{"limit": {strconv.Itoa(pageParts)}, "after": {after}}, &page)
		if within.Err() != nil && ctx.Err() == nil {
			return nil, c.endless("has more than could be read in %v", limit)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, page.Brokers...)
		if page.Next == nil {
			return all, nil
		}
		bytes += len(raw)
		for i := range page.Brokers {
			members += len(page.Brokers[i].Members)
		}
		switch {
		case len(page.Brokers) == 0 || *page.Next <= after:
			return nil, c.endless("goes on behind %q at %q", after, *page.Next)
		case pages == maxPages:
			return nil, c.endless("goes on after %d pages", pages)
		case bytes > c.maxListBytes:
			return nil, c.endless("goes on after %d bytes", bytes)
		case members > maxMembers:
			return nil, c.endless("goes on after %d addresses", members)
		}
		after = *page.Next
	}
}

// endless says why a list isn't read on.
func (c *Client) endless(format string, a ...any) error {
	return fmt.Errorf("%s: the list of brokers %s", c.addr, fmt.Sprintf(format, a...))
}
