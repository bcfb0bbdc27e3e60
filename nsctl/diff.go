package nsctl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/waymark-mq/waymark/nsctl/diff"
)

// orderNamespace is the KV namespace that clients' routes are made of. Source: Apache RocketMQ 5.5.0, NamesrvUtil.
const orderNamespace = "ORDER_TOPIC_CONFIG"

type diffFlags struct {
	namespaces []string
	inFlight   int
	settle     time.Duration
}

func (t *tool) diffCommand() *cobra.Command {
	var f diffFlags
	c := &cobra.Command{
		Use:   "diff [host:port host:port …]",
		Short: "Compare nameservers, Apache's too: brokers, topics, routes, KV",
		Long: "diff compares what nameservers answer: brokers and clusters, topics, the route of each topic that two of them list, and KV.\n" +
			"The order of answers doesn't matter. What differs is looked at again after --settle, and told only if it differs twice in the same way,\n" +
			"or at each of four looks: a change under way is no difference.\n\n" +
			"Exit code 0: the same; 1: they differ; 2: one couldn't be asked. Without addresses, those of --namesrv are compared.",
		Example:           "  nsctl diff 10.0.0.1:9876 10.0.0.2:9876 --namespace MY_NAMESPACE",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(c *cobra.Command, args []string) error { return t.diff(c.Context(), args, f) },
	}
	c.Flags().StringSliceVar(&f.namespaces, "namespace", []string{orderNamespace}, "KV `namespaces` to compare: no request lists them")
	c.Flags().IntVar(&f.inFlight, "in-flight", 64, "queries under way at each nameserver")
	c.Flags().DurationVar(&f.settle, "settle", 2*time.Second, "`time` between two looks at what differs")
	return c
}

// diffJSON is the JSON of a comparison.
type diffJSON struct {
	Nameservers []string         `json:"nameservers"`
	Same        bool             `json:"same"`
	Brokers     int              `json:"brokers"`
	Topics      int              `json:"topics"`
	Routes      int              `json:"routes"`
	Differences []differenceJSON `json:"differences"`
	Omitted     int              `json:"omitted,omitempty"`
}

type differenceJSON struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
	What string `json:"what"`
	// Values are in the order of nameservers; null: that one says nothing.
	Values []*string `json:"values"`
}

func (t *tool) diff(ctx context.Context, args []string, f diffFlags) error {
	addrs, err := addresses(strings.Join(args, ";"), defaultNamesrvPort)
	if err == nil && len(args) == 0 {
		addrs, err = t.nameservers()
	}
	if err != nil {
		return err
	}
	if len(addrs) < 2 {
		return errors.New("diff compares two nameservers or more")
	}
	if f.inFlight < 1 || f.inFlight > 1024 {
		return fmt.Errorf("--in-flight %d is outside 1-1024", f.inFlight)
	}
	servers, end, err := t.dialAll(ctx, addrs)
	if err != nil {
		return err
	}
	defer end()
	r, err := diff.Run(ctx, servers, diff.Options{
		Namespaces: f.namespaces, InFlight: f.inFlight,
		Pause: func(ctx context.Context) error { return t.pause(ctx, f.settle) },
	})
	if err != nil {
		return err
	}
	return t.tellDiff(addrs, r)
}

// dialAll connects to all at the same time.
func (t *tool) dialAll(ctx context.Context, addrs []string) (servers []diff.Nameserver, end func(), err error) {
	servers = make([]diff.Nameserver, len(addrs))
	ends := make([]func(), len(addrs))
	end = func() {
		for _, end := range ends {
			if end != nil {
				end()
			}
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	for i, addr := range addrs {
		g.Go(func() error {
			n, err := t.dial(ctx, addr)
			if err == nil {
				servers[i], ends[i] = n, n.Close
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		end()
		return nil, nil, err
	}
	return servers, end, nil
}

func (t *tool) tellDiff(addrs []string, r *diff.Result) error {
	same := len(r.Differences) == 0
	if t.json() {
		j := diffJSON{Nameservers: addrs, Same: same, Brokers: r.Brokers, Topics: r.Topics, Routes: r.Routes, Differences: []differenceJSON{}, Omitted: r.Omitted}
		for _, d := range r.Differences {
			j.Differences = append(j.Differences, differenceJSON(d))
		}
		if err := t.writeJSON(j); err != nil {
			return err
		}
	} else if same {
		t.say("the same: %d brokers, %d topics, %d routes", r.Brokers, r.Topics, r.Routes)
	} else {
		t.diffTable(addrs, r)
	}
	if same {
		return nil
	}
	return &negative{}
}

func (t *tool) diffTable(addrs []string, r *diff.Result) {
	head := []any{"KIND", "NAME", "WHAT"}
	for _, addr := range addrs {
		head = append(head, addr)
	}
	table := t.newTable(head...)
	for _, d := range r.Differences {
		row := []any{d.Kind, d.Name, d.What}
		for _, v := range d.Values {
			switch {
			case v == nil:
				row = append(row, nil)
			case *v == "":
				row = append(row, `""`)
			default:
				row = append(row, *v)
			}
		}
		table.row(row...)
	}
	table.end()
	if r.Omitted > 0 {
		t.say("… and %d more of the same things", r.Omitted)
	}
}
