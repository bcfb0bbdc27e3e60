package conformance

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// conversation is what one peer sent on one connection of a capture.
type conversation struct {
	name   string
	config map[string]string
	frames []*Exchange
}

func (c *conversation) size() int {
	n := 0
	for _, e := range c.frames {
		n += len(e.frame)
	}
	return n
}

// conversations of a capture, in the order in which their connections were opened.
func conversations(t *testing.T, name string) []*conversation {
	t.Helper()
	var all []*conversation
	byConn := map[int]*conversation{}
	for _, l := range readCapture(t, name) {
		if l.Frame == nil || l.Dir != ">" || l.fromServer() {
			continue
		}
		c := byConn[*l.Conn]
		if c == nil {
			c = &conversation{name: fmt.Sprintf("%s/%d", name, *l.Conn), config: captures[name].config}
			byConn[*l.Conn] = c
			all = append(all, c)
		}
		e, err := l.exchange(nil)
		if err != nil {
			t.Fatal(err)
		}
		c.frames = append(c.frames, e)
	}
	return all
}

func captureNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/captures/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures (%v)", err)
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(filepath.Base(file), ".jsonl")
	}
	return files
}

// converse sends a conversation in pieces that end at the cuts and returns the
// answers, nil for one-way requests. A piece is followed by the next one when
// all requests that were whole with it are answered.
func (c *conversation) converse(to talk, cuts []int) ([]*Answer, error) {
	var bytes []byte
	var ends []int
	for _, e := range c.frames {
		bytes = append(bytes, e.frame...)
		ends = append(ends, len(bytes))
	}
	answers := make([]*Answer, len(c.frames))
	sent, whole := 0, 0
	for _, cut := range append(slices.Clone(cuts), len(bytes)) {
		if err := to.send(bytes[sent:cut]); err != nil {
			return nil, err
		}
		sent = cut
		for ; whole < len(ends) && ends[whole] <= cut; whole++ {
			e := c.frames[whole]
			if e.Flag&flagOneway != 0 {
				continue
			}
			a, err := to.answer(e.Opaque)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", e.where(), err)
			}
			answers[whole] = a
		}
	}
	return answers, nil
}

// races tells for every request whether its answer may depend on how far the
// server has got with an earlier one: a read that comes in one piece with a
// write ahead of it, or after a one-way write that no later answer covers.
func (c *conversation) races(cuts []int) []bool {
	races := make([]bool, len(c.frames))
	end, piece := 0, 0
	writing := false                // a write in this piece
	oneway, covered := false, false // a one-way write; a later write that is answered
	for i, e := range c.frames {
		end += len(e.frame)
		for ; piece < len(cuts) && end > cuts[piece]; piece++ {
			writing, oneway = false, oneway && !covered
		}
		switch {
		case e.Code == codeQueryDataVersion, e.Code == codeBrokerHeartbeat: // in order with writes, and change none
		case e.reads():
			races[i] = writing || oneway
		case e.Flag&flagOneway != 0:
			oneway, covered = true, false
		default:
			writing, covered = true, true
		}
	}
	return races
}

// differences compares the answers of two runs.
func (c *conversation) differences(want, got []*Answer, races []bool) []string {
	var all []string
	for i := range c.frames {
		detail := ""
		if races[i] {
			if (want[i] == nil) != (got[i] == nil) {
				detail = "one run has no answer"
			}
		} else {
			detail = differ(c.frames[i].masked(want[i]), c.frames[i].masked(got[i]), true)
		}
		if detail != "" {
			all = append(all, c.frames[i].where()+": "+detail)
		}
	}
	return all
}

// seededCuts are n different places inside size bytes, in order.
func seededCuts(seed uint64, n, size int) []int {
	r := rand.New(rand.NewPCG(seed, 0))
	cuts := r.Perm(size - 1)[:min(n, size-1)]
	for i := range cuts {
		cuts[i]++
	}
	slices.Sort(cuts)
	return cuts
}

// frameEnds cut a conversation into its frames.
func frameEnds(c *conversation) []int {
	var ends []int
	end := 0
	for _, e := range c.frames[:len(c.frames)-1] {
		end += len(e.frame)
		ends = append(ends, end)
	}
	return ends
}
