package nsctl

import (
	"context"
	"encoding/json"
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
	side, err := t.mustSide(ctx)
	if err != nil {
		return err
	}
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
	for wait := pollTime; ; {
		page, err := follower.Next(ctx)
		switch {
		case err != nil && (!f.follow || ctx.Err() != nil):
			return err
		case err != nil:
			if wait == pollTime {
				t.note("%v; trying on", err)
			}
			wait = min(2*wait, mostPollTime)
		default:
			wait = pollTime
			if err := t.tellEvents(page); err != nil {
				return err
			}
			if page.More {
				continue
			}
			if !f.follow {
				return nil
			}
		}
		if err := t.pause(ctx, wait); err != nil {
			return err
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
		var err error
		if t.json() {
			err = t.writeJSON(json.RawMessage(page.Events[i].Raw))
		} else {
			_, err = fmt.Fprintln(t.Stdout, printable(eventLine(&page.Events[i])))
		}
		if err != nil {
			return err
		}
	}
	return nil
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
	return b.String()
}

// mustSide is the HTTP side of the one nameserver that is meant.
func (t *tool) mustSide(ctx context.Context) (*httpside.Client, error) {
	addrs, err := t.nameservers()
	if err != nil {
		return nil, err
	}
	if len(addrs) > 1 {
		return nil, fmt.Errorf("%d nameservers are named: -n chooses one", len(addrs))
	}
	side, _, err := t.httpSide(ctx, addrs[0], 0, 1)
	return side, err
}

func (t *tool) drainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "drain", Short: "Send a nameserver's peers elsewhere before it is stopped", Args: cobra.NoArgs,
		Long: "drain tells a Waymark nameserver on this machine (POST /drain) to send clients and brokers to the other nameservers. It can't be\n" +
			"called off; stop the process with SIGTERM once top shows that it has been drained.",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(c *cobra.Command, _ []string) error {
			side, err := t.mustSide(c.Context())
			if err != nil {
				return err
			}
			if err := side.Drain(c.Context()); err != nil {
				return err
			}
			if t.json() {
				return t.writeJSON(map[string]string{"admin": side.Addr(), "state": "draining"})
			}
			_, err = fmt.Fprintln(t.Stdout, "draining")
			return err
		},
	}
}
