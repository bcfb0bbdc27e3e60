package nsctl

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (t *tool) drainCommand() *cobra.Command {
	return &cobra.Command{
		Use: "drain", Short: "Send a nameserver's peers elsewhere before it is stopped", Args: cobra.NoArgs,
		Long: "drain tells a Waymark nameserver on this machine (POST /drain) to send clients and brokers to the other nameservers. It can't be\n" +
			"called off; stop the process with SIGTERM once top shows that it has been drained. Exit code 1: none has begun, since the server\n" +
			"drains or stops already or has yet to start.",
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(c *cobra.Command, _ []string) error { return t.drain(c.Context()) },
	}
}

func (t *tool) drain(ctx context.Context) error {
	side, server, err := t.mustSide(ctx)
	if err != nil {
		return err
	}
	defer side.Close()
	d, err := side.Drain(ctx)
	if err != nil {
		return err
	}
	if t.json() {
		err = t.writeJSON(struct {
			Admin   string `json:"admin"`
			Address string `json:"address"`
			Begun   bool   `json:"begun"`
			State   string `json:"state"`
		}{side.Addr(), server.Address, d.Begun, d.State})
	} else if d.Begun {
		t.say("%s: the nameserver at %s", d.State, server.Address) // which may be another than -n says
	}
	switch {
	case err != nil || d.Begun:
		return err
	case d.State == "draining":
		return &negative{side.Addr() + ": already draining"}
	}
	return &negative{fmt.Sprintf("%s: no drain has begun: the nameserver is %s", side.Addr(), d.State)}
}
