package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/waymark-mq/waymark/bench/floor"
	"github.com/waymark-mq/waymark/bench/servers"
	"github.com/waymark-mq/waymark/profiles"
)

// Comparison puts variants of a profile on servers, one after another, in several rounds.
type Comparison struct {
	Profile  string
	Variants []profiles.Variant
	Servers  []*servers.Server
	Rounds   int
	Smoke    bool // the variants' smoke sizes
	Options  Options
	Machine  Machine

	// Done is called with each result.
	Done func(*Result) error
}

// Run runs every variant in every round on every server. Each round begins with another server, so that what changes on the machine
// meanwhile meets all alike.
func (c *Comparison) Run(ctx context.Context) error {
	for _, v := range c.Variants {
		load := v.Full
		if c.Smoke {
			load = v.Smoke
		}
		answerBytes := 0
		for round := range c.Rounds {
			for _, s := range c.order(round, answerBytes) {
				r, err := Run(ctx, sized(s, answerBytes), &load, c.Options)
				if err != nil {
					return fmt.Errorf("bench: %s %s: %w", c.Profile, v.Name, err)
				}
				r.Profile, r.Variant, r.Round, r.Smoke, r.Machine = c.Profile, v.Name, round, c.Smoke, c.Machine
				if answerBytes == 0 && !s.Floor {
					answerBytes = r.AnswerBytes()
				}
				if err := c.Done(r); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// sized is the server, if it is a floor one that answers with so many bytes, unless it was told a size before.
func sized(s *servers.Server, answerBytes int) *servers.Server {
	if !s.Floor || s.AnswerSize != 0 {
		return s
	}
	out := *s
	out.AnswerSize = max(answerBytes, floor.MinSize)
	return &out
}

// order is the order of the servers in a round. The floor comes last as long as nobody has told the size of an answer.
func (c *Comparison) order(round, answerBytes int) []*servers.Server {
	var list, floors []*servers.Server
	for i := range c.Servers {
		s := c.Servers[(round+i)%len(c.Servers)]
		if s.Floor && answerBytes == 0 {
			floors = append(floors, s)
		} else {
			list = append(list, s)
		}
	}
	return append(list, floors...)
}

// WriteResult appends a result to w, a line of JSON.
func WriteResult(w io.Writer, r *Result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("bench: %w", err)
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// ReadResults reads what WriteResult wrote.
func ReadResults(from io.Reader) ([]*Result, error) {
	var list []*Result
	for d := json.NewDecoder(from); ; {
		r := new(Result)
		if err := d.Decode(r); err == io.EOF {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("bench: result %d: %w", len(list)+1, err)
		}
		list = append(list, r)
	}
}
