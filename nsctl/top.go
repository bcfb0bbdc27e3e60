package nsctl

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/waymark-mq/waymark/nsctl/httpside"
)

type topFlags struct {
	interval time.Duration
	count    int
	once     bool
	rows     int
}

func (t *tool) topCommand() *cobra.Command {
	var f topFlags
	c := &cobra.Command{
		Use: "top", Short: "Watch nameservers and their brokers", Args: cobra.NoArgs,
		Long: "top shows the nameservers of --namesrv, and the brokers of the first that answers, the longest silent first. Connections, rates and\n" +
			"signs of life come from the HTTP side; of a nameserver without one, Apache's too, only what the protocol tells is shown.",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(c *cobra.Command, _ []string) error { return t.top(c.Context(), f) },
	}
	c.Flags().DurationVar(&f.interval, "interval", 2*time.Second, "`time` between two looks")
	c.Flags().IntVar(&f.count, "count", 0, "end after this `number` of looks (0: never)")
	c.Flags().BoolVar(&f.once, "once", false, "look once")
	c.Flags().IntVar(&f.rows, "rows", 30, "show so many addresses of brokers at most")
	return c
}

// nameserverJSON is one nameserver at one look. What isn't known is left out.
type nameserverJSON struct {
	Address     string   `json:"address"`
	Source      string   `json:"source,omitempty"` // api or remoting
	Error       string   `json:"error,omitempty"`
	State       string   `json:"state,omitempty"`
	UpSeconds   *float64 `json:"upSeconds,omitempty"`
	Clusters    int      `json:"clusters"`
	Brokers     int      `json:"brokers"` // names
	Topics      *int     `json:"topics,omitempty"`
	Connections *int     `json:"connections,omitempty"`
	Requests    *float64 `json:"requestsPerSecond,omitempty"`
	Failed      *float64 `json:"failedPerSecond,omitempty"`

	brokers  []httpside.Broker
	requests httpside.Requests
	at       time.Time // of requests; zero: not known
}

func (t *tool) top(ctx context.Context, f topFlags) error {
	addrs, err := t.nameservers()
	if err != nil {
		return err
	}
	if f.once {
		f.count = 1
	}
	if f.interval <= 0 || f.rows < 0 {
		return fmt.Errorf("--interval %s, --rows %d: no such", f.interval, f.rows)
	}
	var before []nameserverJSON
	for look := 1; ; look++ {
		now := t.lookAt(ctx, addrs)
		if ctx.Err() != nil {
			return nil // the operator has seen enough
		}
		rates(before, now)
		if err := t.tellTop(now, f.rows); err != nil {
			return err
		}
		if look == f.count {
			return reachable(now)
		}
		before = now
		if t.pause(ctx, f.interval) != nil {
			return nil
		}
	}
}

// reachable is an error if no nameserver answered.
func reachable(all []nameserverJSON) error {
	for _, n := range all {
		if n.Error == "" {
			return nil
		}
	}
	return fmt.Errorf("no nameserver answers: %s", all[0].Error)
}

// lookAt asks all at the same time.
func (t *tool) lookAt(ctx context.Context, addrs []string) []nameserverJSON {
	all := make([]nameserverJSON, len(addrs))
	var g errgroup.Group
	for i, addr := range addrs {
		g.Go(func() error {
			all[i].Address = addr
			if t.lookBySide(ctx, &all[i], i, len(addrs)) != nil {
				all[i] = nameserverJSON{Address: addr}
				if err := t.lookByProtocol(ctx, &all[i]); err != nil {
					all[i] = nameserverJSON{Address: addr, Error: err.Error()}
				}
			}
			return nil
		})
	}
	_ = g.Wait()
	return all
}

func (t *tool) lookBySide(ctx context.Context, n *nameserverJSON, i, of int) error {
	side, s, err := t.httpSide(ctx, n.Address, i, of)
	if err != nil {
		return err
	}
	defer side.Close()
	if n.brokers, err = side.Brokers(ctx); err != nil {
		return err
	}
	clusters := map[string]bool{}
	for i := range n.brokers {
		clusters[n.brokers[i].Cluster] = true
	}
	n.Source, n.State, n.UpSeconds, n.Topics, n.Connections = "api", stateOf(s), &s.UpSeconds, &s.Topics, &s.Connections
	n.Clusters, n.Brokers = len(clusters), len(n.brokers)
	if r, err := side.Requests(ctx); err == nil { // a proxy may keep /metrics to itself
		n.requests, n.at = r, time.Now()
	}
	return nil
}

// stateOf is a server's state, and of a drain how far it is.
func stateOf(s *httpside.Server) string {
	switch {
	case s.Drain == nil || s.State != "draining":
		return s.State
	case s.Drain.Rounds > 0:
		return "drained"
	}
	return s.State
}

func (t *tool) lookByProtocol(ctx context.Context, n *nameserverJSON) error {
	s, err := t.dial(ctx, n.Address)
	if err != nil {
		return err
	}
	defer s.Close()
	info, err := s.Clusters(ctx)
	if err != nil {
		return err
	}
	for name, b := range info.Brokers {
		n.brokers = append(n.brokers, httpside.Broker{Name: name, Cluster: b.Cluster, Members: membersOf(b)})
	}
	n.Source, n.Clusters, n.Brokers = "remoting", len(info.Clusters), len(info.Brokers)
	if topics, err := s.Topics(ctx); err == nil { // it may be told not to list them
		count := len(topics)
		n.Topics = &count
	}
	return nil
}

// rates are known where both looks counted requests of the same process.
func rates(before, now []nameserverJSON) {
	for i := range before {
		a, b := &before[i], &now[i]
		d := b.at.Sub(a.at).Seconds()
		if a.at.IsZero() || b.at.IsZero() || d <= 0 || b.requests.Total < a.requests.Total {
			continue
		}
		total, failed := (b.requests.Total-a.requests.Total)/d, max(b.requests.Failed-a.requests.Failed, 0)/d
		b.Requests, b.Failed = &total, &failed
	}
}

// clearScreen makes a terminal empty, and goes to its first line.
const clearScreen = "\x1b[H\x1b[2J"

func (t *tool) tellTop(all []nameserverJSON, rows int) error {
	var brokers []httpside.Broker
	source := ""
	for _, n := range all {
		if n.Error == "" {
			brokers, source = n.brokers, n.Source
			break
		}
	}
	if t.json() {
		return t.writeJSON(struct {
			Nameservers []nameserverJSON  `json:"nameservers"`
			Brokers     []httpside.Broker `json:"brokers"`
		}{all, append([]httpside.Broker{}, brokers...)})
	}
	if t.Terminal {
		_, _ = t.out.WriteString(clearScreen)
	}
	table := t.newTable("NAMESERVER", "STATE", "UP", "CLUSTERS", "BROKERS", "TOPICS", "CONNECTIONS", "REQUESTS/S", "FAILED/S")
	for _, n := range all {
		switch {
		case n.Error != "":
			table.row(n.Address, "unreachable", nil, nil, nil, nil, nil, nil, nil)
		case n.UpSeconds == nil:
			table.row(n.Address, "answers", nil, n.Clusters, n.Brokers, known(n.Topics), nil, nil, nil)
		default:
			table.row(n.Address, n.State, ago(*n.UpSeconds), n.Clusters, n.Brokers, known(n.Topics), known(n.Connections), rate(n.Requests), rate(n.Failed))
		}
	}
	table.end()
	for _, n := range all {
		if n.Error != "" {
			t.say("%s", n.Error)
		}
	}
	t.topBrokers(brokers, source == "api", rows)
	return t.flush()
}

func known(n *int) any {
	if n == nil {
		return nil
	}
	return *n
}

func rate(r *float64) any {
	if r == nil {
		return nil
	}
	return strconv.FormatFloat(*r, 'f', 1, 64)
}

// topBrokers shows addresses, the longest silent first.
func (t *tool) topBrokers(brokers []httpside.Broker, alive bool, rows int) {
	type line struct {
		b *httpside.Broker
		m httpside.Member
	}
	var lines []line
	for i := range brokers {
		for _, m := range brokers[i].Members {
			lines = append(lines, line{&brokers[i], m})
		}
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(b.m.SilentSeconds, a.m.SilentSeconds), cmp.Compare(a.b.Name, b.b.Name), cmp.Compare(a.m.ID, b.m.ID))
	})
	if len(lines) == 0 {
		return
	}
	_ = t.out.WriteByte('\n')
	table := t.newTable("BROKER", "CLUSTER", "ID", "ADDRESS", "SILENT", "CONNECTION", "TOPICS")
	for _, l := range lines[:min(rows, len(lines))] {
		silent, owner := life(l.m, alive)
		var topics any
		if l.m.Registration != nil {
			topics = l.m.Registration.Topics
		}
		table.row(l.b.Name, l.b.Cluster, l.m.ID, l.m.Address, silent, owner, topics)
	}
	table.end()
	if more := len(lines) - rows; more > 0 {
		t.say("… and %d more", more)
	}
}
