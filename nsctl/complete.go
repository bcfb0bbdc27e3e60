package nsctl

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waymark-mq/waymark/nsctl/ask"
)

const (
	completeTime = 2 * time.Second // a shell waits for it
	maxCompleted = 1000
)

// safeName is a name that every shell takes as it is and no command takes for an option, of no more bytes than a nameserver of ours takes.
// The scripts that complete quote names, but each in its own way, and a name is whatever somebody has registered.
var safeName = regexp.MustCompile(`^[A-Za-z0-9_%+.,@/][A-Za-z0-9_%+.,@/-]{0,254}$`)

func (t *tool) completeTopics(c *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
	return t.complete(c, args, begin, func(ctx context.Context, n *ask.Nameserver) ([]string, error) { return n.Topics(ctx) })
}

func (t *tool) completeBrokers(c *cobra.Command, args []string, begin string) ([]string, cobra.ShellCompDirective) {
	return t.complete(c, args, begin, func(ctx context.Context, n *ask.Nameserver) ([]string, error) {
		info, err := n.Clusters(ctx)
		if err != nil {
			return nil, err
		}
		return slices.Collect(maps.Keys(info.Brokers)), nil
	})
}

// complete offers names of the first nameserver; none if it can't be asked. Only safe names are, and so many at most.
func (t *tool) complete(c *cobra.Command, args []string, begin string, names func(context.Context, *ask.Nameserver) ([]string, error)) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	addr, err := t.first()
	if err != nil || len(args) > 0 {
		return nil, none
	}
	ctx, cancel := context.WithTimeout(c.Context(), completeTime)
	defer cancel()
	n, err := t.dial(ctx, addr)
	if err != nil {
		return nil, none
	}
	defer n.Close()
	all, err := names(ctx, n)
	if err != nil {
		return nil, none
	}
	all = slices.DeleteFunc(all, func(name string) bool {
		return !strings.HasPrefix(name, begin) || !safeName.MatchString(name)
	})
	slices.Sort(all)
	return all[:min(len(all), maxCompleted)], none
}
