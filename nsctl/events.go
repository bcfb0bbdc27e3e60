package nsctl

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-mq/waymark/nsctl/httpside"
)

const (
	// pollTime is how long events -f waits for the next ones.
	pollTime = time.Second
	// mostPollTime bounds the wait for a server that doesn't answer.
	mostPollTime = 10 * time.Second
	// maxEventPages bounds what is read without -f. A nameserver keeps 10,000 events, ten pages.
	maxEventPages = 100
)

type eventFlags struct {
	follow              bool
	last                uint64
	kind, broker, topic string
}

func (t *tool) eventsCommand() *cobra.Command {
	var f eventFlags
	c := &cobra.Command{
		Use: "events", Short: "Show what happened last, or follow what happens", Args: cobra.NoArgs,
		Long: "events shows the last events of a Waymark nameserver: registrations, removals, what tools changed. With -f it follows: each\n" +
			"event comes once, over a restart of the nameserver too; what it had forgotten before it was asked for is counted on standard error.",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(c *cobra.Command, _ []string) error { return t.events(c.Context(), f) },
	}
	c.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on")
	c.Flags().Uint64Var(&f.last, "last", 100, "begin with the last `number` of events, counted before the filter")
	c.Flags().StringVar(&f.kind, "kind", "", "only these `kinds`, with commas; API.md has them")
	c.Flags().StringVar(&f.broker, "broker", "", "only those of a broker `name`")
	c.Flags().StringVar(&f.topic, "topic", "", "only those of a `topic`")
	_ = c.RegisterFlagCompletionFunc("broker", t.completeBrokers)
	_ = c.RegisterFlagCompletionFunc("topic", t.completeTopics)
	return c
}

func (t *tool) events(ctx context.Context, f eventFlags) error {
	side, _, err := t.mustSide(ctx)
	if err != nil {
		return err
	}
	defer side.Close()
	filter := url.Values{}
	for name, value := range map[string]string{"kind": f.kind, "broker": f.broker, "topic": f.topic} {
		if value != "" {
			filter.Set(name, value)
		}
	}
	follower, err := side.FollowLast(ctx, filter, f.last)
	if err != nil {
		return err
	}
	if f.follow {
		return t.follow(ctx, follower)
	}
	for range maxEventPages {
		page, err := follower.Next(ctx)
		if err != nil {
			return err
		}
		if err := t.tellEvents(page); err != nil || !page.More {
			return err
		}
	}
	return fmt.Errorf("there are always more events: %d pages of them so far; -f follows", maxEventPages)
}

// follow tells events until the operator has seen enough. A server that can't be asked is asked on, at longer and longer intervals.
func (t *tool) follow(ctx context.Context, follower *httpside.Follower) error {
	for wait := pollTime; ; {
		page, err := follower.Next(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if wait == pollTime {
				t.note("%v; trying on", err)
			}
			wait = min(2*wait, mostPollTime)
		default:
			if wait > pollTime {
				t.note("it answers again")
			}
			wait = pollTime
			if err := t.tellEvents(page); err != nil {
				return err
			}
			if page.More && len(page.Events) > 0 && !page.Restarted { // anything else could go on for ever without a pause
				continue
			}
		}
		if t.pause(ctx, wait) != nil {
			return nil
		}
	}
}

func (t *tool) tellEvents(page httpside.EventPage) error {
	if page.Restarted {
		t.note("the nameserver was started anew")
	}
	if page.Missed > 0 {
		t.note("%d events are missing here: the nameserver had forgotten them", page.Missed)
	}
	for i := range page.Events {
		if !t.json() {
			t.say("%s", eventLine(&page.Events[i]))
		} else if err := t.writeJSON(page.Events[i].Raw); err != nil {
			return err
		}
	}
	return t.flush()
}

// eventLine is an event on one line.
func eventLine(e *httpside.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s #%d %s: %s", clock(e.Time), e.Seq, e.Kind, e.Text)
	add := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, " %s=%s", name, value)
		}
	}
	add("cluster", e.Cluster)
	add("broker", e.Broker)
	if e.ID != nil {
		fmt.Fprintf(&b, " id=%d", *e.ID)
	}
	add("address", e.Address)
	add("topic", e.Topic)
	add("namespace", e.Namespace)
	add("key", e.Key)
	add("other", e.Other)
	for _, n := range []struct {
		name string
		n    int
	}{{"topics", e.Topics}, {"changed", e.TopicsChanged}, {"gone", e.TopicsGone}} {
		if n.n > 0 {
			fmt.Fprintf(&b, " %s=%d", n.name, n.n)
		}
	}
	add("from", e.Peer)
	add("detail", e.Detail)
	if e.NeedsRestart {
		b.WriteString(" (needs a restart)")
	}
	return b.String()
}
