package namesrv

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/golden"
)

// linearInput is one request of a history: a command, or a route query if there is none.
type linearInput struct {
	conn, group int
	command     core.Command
	topic       string
	// How many writes and reads of the same group its connection had sent before. Writes of a
	// connection take effect in the order sent, and so do its reads; a write never takes effect before a
	// read that was sent earlier. (A read may overtake a write that waits to be applied.)
	writesBefore, readsBefore int
}

// linearState is a state of the group's tables, and how far each connection has come.
type linearState struct {
	model         *golden.Model
	writes, reads []int // by connection
}

// linearModel checks a history of conns connections against the reference model, group by group: the
// commands of one concern its own brokers and topics alone, so that a history is linearizable if it is for each.
func linearModel(conns int) porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) (groups [][]porcupine.Operation) {
			for _, o := range history {
				g := o.Input.(*linearInput).group
				groups = append(groups, make([][]porcupine.Operation, max(0, g+1-len(groups)))...)
				groups[g] = append(groups[g], o)
			}
			return groups
		},
		Init: func() any {
			return &linearState{model: golden.New(core.DefaultSettings()), writes: make([]int, conns), reads: make([]int, conns)}
		},
		Step: func(state, input, output any) (bool, any) {
			return state.(*linearState).step(input.(*linearInput), output.(string))
		},
		Equal: func(a, b any) bool {
			x, y := a.(*linearState), b.(*linearState)
			return slices.Equal(x.writes, y.writes) && slices.Equal(x.reads, y.reads) && x.model.Equal(y.model)
		},
	}
}

// step reports whether the request may be the next to take effect, with that answer.
func (s *linearState) step(in *linearInput, answer string) (legal bool, next *linearState) {
	if s.reads[in.conn] < in.readsBefore || (in.command == nil && s.reads[in.conn] > in.readsBefore) {
		return false, nil
	}
	if in.command == nil {
		if answer != linearRoute(s.model, in.topic) {
			return false, nil
		}
		next = &linearState{model: s.model, writes: s.writes, reads: slices.Clone(s.reads)}
		next.reads[in.conn]++
		return true, next
	}
	if s.writes[in.conn] != in.writesBefore {
		return false, nil
	}
	next = &linearState{model: s.model.Clone(), writes: slices.Clone(s.writes), reads: s.reads}
	next.writes[in.conn]++
	results, _ := next.model.Step(0, []core.Command{in.command})
	return answer == linearAnswer(in.command, &results[0]), next
}

func linearRoute(m *golden.Model, topic string) string {
	if body, ok := m.Route(topic, golden.RouteOptions{Dialect: codec.Standard}); ok {
		return "0 " + body
	}
	return noRoute + topic + noRouteHelp
}

// linearAnswer is the answer to a command as answer.String writes it.
func linearAnswer(c core.Command, r *core.Result) string {
	switch c.(type) {
	case *core.RegisterBroker:
		switch {
		case r.Refused:
			return `1 "register broker failed" {}`
		case r.MasterAddr.Valid:
			return fmt.Sprintf("0 {haServerAddr=%s masterAddr=%s}", r.HAServerAddr.S, r.MasterAddr.S)
		}
		return "0 {}"
	case *core.WipeWritePerm:
		return fmt.Sprintf("0 {wipeTopicCount=%d}", r.Count)
	}
	return "0"
}

// checkLinear returns the groups of a history that are not linearizable, and an error if the
// checker didn't come to an end.
func checkLinear(conns int, history []porcupine.Operation) (bad [][]porcupine.Operation, err error) {
	model := linearModel(conns)
	groups := model.Partition(history)
	model.Partition = nil
	for g, operations := range groups {
		switch porcupine.CheckOperationsTimeout(model, operations, waitLimit) {
		case porcupine.Illegal:
			bad = append(bad, operations)
		case porcupine.Unknown:
			return bad, fmt.Errorf("group %d: %d requests not checked within %v", g, len(operations), waitLimit)
		}
	}
	return bad, nil
}

// historyText is a history, one line a request, in the order of sending.
func historyText(operations []porcupine.Operation) string {
	var b strings.Builder
	slices.SortFunc(operations, func(x, y porcupine.Operation) int { return int(x.Call - y.Call) })
	for _, o := range operations {
		in := o.Input.(*linearInput)
		what := "105 " + in.topic
		if r, ok := in.command.(*core.RegisterBroker); ok {
			what = fmt.Sprintf("103 %s#%d@%s %s topics %v", r.BrokerName, r.BrokerID, r.BrokerAddr, r.Body.DataVersion.Append(nil), r.Body.Topics)
		} else if in.command != nil {
			what = fmt.Sprintf("%T %+v", in.command, in.command)
		}
		fmt.Fprintf(&b, "%v to %v on %d: %s → %s\n", time.Duration(o.Call), time.Duration(o.Return), in.conn, what, o.Output)
	}
	return b.String()
}

// The checker refuses what a stale read or a reordered connection would look like, and takes what is right.
func TestLinearCheckerRefuses(t *testing.T) {
	r, w := broker("a").linear(t), &core.WipeWritePerm{BrokerName: "a"}
	gone := &core.UnregisterBroker{ClusterName: cluster, BrokerName: "a", BrokerAddr: "a:10911"}
	model := golden.New(core.DefaultSettings())
	none := linearRoute(model, "Base")
	model.Step(0, []core.Command{r})
	there := linearRoute(model, "Base")
	model.Step(0, []core.Command{w})
	wiped := linearRoute(model, "Base")

	op := func(conn, writes, reads int, c core.Command, call, end int64, answer string) porcupine.Operation {
		in := &linearInput{conn: conn, command: c, writesBefore: writes, readsBefore: reads}
		if c == nil {
			in.topic = "Base"
		}
		return porcupine.Operation{ClientId: conn, Input: in, Call: call, Output: answer, Return: end}
	}
	for _, tt := range []struct {
		name    string
		history []porcupine.Operation
		bad     bool
	}{
		{"read after the answer", []porcupine.Operation{op(0, 0, 0, r, 1, 2, "0 {}"), op(1, 0, 0, nil, 3, 4, there)}, false},
		{"stale read", []porcupine.Operation{op(0, 0, 0, r, 1, 2, "0 {}"), op(1, 0, 0, nil, 3, 4, none)}, true},
		{"old read while it is written", []porcupine.Operation{op(0, 0, 0, r, 1, 4, "0 {}"), op(1, 0, 0, nil, 2, 3, none)}, false},
		{"new, then old", []porcupine.Operation{op(0, 0, 0, r, 1, 9, "0 {}"), op(1, 0, 0, nil, 2, 3, there), op(2, 0, 0, nil, 4, 5, none)}, true},
		{"new, then old, pipelined", []porcupine.Operation{op(0, 0, 0, r, 1, 9, "0 {}"), op(1, 0, 0, nil, 2, 3, there), op(1, 0, 1, nil, 2, 4, none)}, true},
		{"pipelined writes in order", []porcupine.Operation{op(0, 0, 0, r, 1, 2, "0 {}"), op(0, 1, 0, gone, 1, 3, "0"), op(1, 0, 0, nil, 4, 5, none)}, false},
		{"pipelined writes reordered", []porcupine.Operation{op(0, 0, 0, r, 1, 2, "0 {}"), op(0, 1, 0, gone, 1, 3, "0"), op(1, 0, 0, nil, 4, 5, there)}, true},
		{"read sees the write behind it", []porcupine.Operation{op(0, 0, 0, nil, 1, 2, there), op(0, 0, 1, r, 1, 3, "0 {}")}, true},
		{"wrong count", []porcupine.Operation{op(0, 0, 0, r, 1, 2, "0 {}"), op(1, 0, 0, w, 3, 4, "0 {wipeTopicCount=1}")}, true},
		{"lost write", []porcupine.Operation{op(0, 0, 0, r, 1, 2, "0 {}"), op(1, 0, 0, w, 3, 4, "0 {wipeTopicCount=2}"), op(2, 0, 0, nil, 5, 6, there)}, true},
		{"half a write", []porcupine.Operation{op(0, 0, 0, r, 1, 2, "0 {}"), op(1, 0, 0, w, 3, 4, "0 {wipeTopicCount=2}"), op(2, 0, 0, nil, 3, 6, wiped)}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad, err := checkLinear(3, tt.history)
			if err != nil || (len(bad) > 0) != tt.bad {
				t.Errorf("refused %v (%v), want %v\n%s", len(bad) > 0, err, tt.bad, historyText(tt.history))
			}
		})
	}
}
