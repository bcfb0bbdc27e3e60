package nsctl

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

func (t *tool) checkConfigCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check-config FILE", Short: "Check a nameserver's properties file, Apache's too", Args: cobra.ExactArgs(1),
		Long: "check-config says of each key what a Waymark nameserver makes of it: whether a new value works at once or at a restart, whether the\n" +
			"key is Apache's and has no meaning here, and what is wrong. Exit code 1: keys are unknown or stand twice, or values are wrong.",
		RunE: func(c *cobra.Command, args []string) error { return t.checkConfig(c.Context(), args[0]) },
	}
}

type findingJSON struct {
	Line    int    `json:"line"`
	Key     string `json:"key,omitempty"`
	Value   string `json:"value"`
	Works   string `json:"works,omitempty"` // at once, at restart, never
	Problem string `json:"problem,omitempty"`
	Fatal   bool   `json:"fatal,omitempty"`
}

// works says when a new value of a key does.
var works = map[settings.Effect]string{settings.AtOnce: "at once", settings.AtRestart: "at restart", settings.Never: "never: Apache's alone"}

func (t *tool) checkConfig(ctx context.Context, file string) error {
	found, err := t.checkFile(ctx, file)
	if err != nil {
		return err
	}
	problems, fatal, all := 0, false, []findingJSON{}
	for _, f := range found {
		j := findingJSON{Line: f.Line, Key: f.Key, Value: f.Value, Problem: f.Problem, Fatal: f.Fatal}
		if f.Known && !f.Repeated {
			j.Works = works[f.Effect]
		}
		if f.Problem != "" {
			problems++
		}
		fatal = fatal || f.Fatal
		all = append(all, j)
	}
	if t.json() {
		err = t.writeJSON(struct {
			File   string        `json:"file"`
			Starts bool          `json:"starts"`
			Keys   []findingJSON `json:"keys"`
		}{file, !fatal, all})
	} else {
		table := t.newTable("LINE", "KEY", "VALUE", "WORKS", "PROBLEM")
		for _, j := range all {
			table.row(j.Line, j.Key, j.Value, j.Works, j.Problem)
		}
		table.end()
	}
	switch {
	case err != nil:
		return err
	case fatal:
		return &negative{file + ": a nameserver doesn't start with it"}
	case problems > 0:
		return &negative{file + ": a nameserver starts with it, but not all of it has an effect"}
	}
	return nil
}

// checkFile ends with ctx: a pipe may have nobody who writes.
func (t *tool) checkFile(ctx context.Context, file string) (found []settings.Finding, err error) {
	checked := make(chan func(), 1)
	go func() {
		f, e := settings.CheckFile(settings.ProcessEnv(t.Getenv), file)
		checked <- func() { found, err = f, e }
	}()
	select {
	case take := <-checked:
		take()
		return found, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
