package core_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// editor steps a table and prints what events of brokers changed.
type editor struct {
	table *core.Table
	now   int64
}

func newEditor(tell bool) *editor {
	e := &editor{table: core.NewTable(core.DefaultSettings(), nil)}
	if tell {
		e.table.TellEdits()
	}
	return e
}

// step returns a line for each event with an edit: kind, state before and after, topics.
func (e *editor) step(batch ...core.Command) (lines []string, edits []*core.BrokerEdit) {
	var out core.Outcome
	e.now++
	e.table.Step(e.now, batch, &out)
	for _, effect := range out.Effects {
		event, ok := effect.(*core.Event)
		if !ok || event.Edit == nil {
			continue
		}
		edits = append(edits, event.Edit)
		line := fmt.Sprintf("%d %s: %s to %s", event.Command, eventNames[event.Kind], stateText(event.Edit.Before), stateText(event.Edit.After))
		for _, topic := range event.Edit.Topics {
			line += fmt.Sprintf(", %s %v to %v", topic.Topic, queueText(topic.Before), queueText(topic.After))
		}
		lines = append(lines, line)
	}
	return lines, edits
}

func stateText(s core.BrokerState) string {
	var parts []string
	if s.Group != nil {
		for _, a := range s.Group.Addrs {
			parts = append(parts, fmt.Sprintf("%d@%s", a.BrokerID, a.Addr))
		}
		if s.Group.ZoneName.Valid {
			parts = append(parts, "zone "+s.Group.ZoneName.S)
		}
	}
	if s.Live != nil {
		parts = append(parts, fmt.Sprintf("version %d", s.Live.DataVersion.Counter))
	}
	return "[" + strings.Join(parts, " ") + "]"
}

func queueText(q *core.QueueState) string {
	if q == nil {
		return "none"
	}
	return fmt.Sprintf("%d/%d/%d", q.Read, q.Write, q.Perm)
}

func editedBroker(addr string, id, version int64, topics ...string) *core.RegisterBroker {
	b := &codec.RegisterBody{DataVersion: codec.DataVersion{Counter: version}}
	for _, name := range topics {
		b.Topics = append(b.Topics, codec.TopicConfig{Name: name, Key: name, HasName: true, ReadQueueNums: 4, WriteQueueNums: 4, Perm: 6})
	}
	return &core.RegisterBroker{Conn: 1, ClusterName: "c", BrokerName: "a", BrokerAddr: addr, BrokerID: id, Body: b}
}

// What changed with a broker is told with what stood there before and stands there now, of that broker's command alone.
func TestBrokerEdits(t *testing.T) {
	e := newEditor(true)
	zoned := editedBroker("m", 0, 2, "R", "S")
	zoned.ZoneName = codec.NullString{S: "z", Valid: true}
	ha := editedBroker("m", 0, 2, "R", "S")
	ha.ZoneName, ha.HAServerAddr = zoned.ZoneName, codec.NullString{S: "elsewhere", Valid: true}
	moved := editedBroker("m", 0, 3, "R", "S")
	moved.BrokerName = "b"
	for _, tt := range []struct {
		name  string
		batch []core.Command
		want  []string
	}{
		{"first", []core.Command{editedBroker("m", 0, 1, "R", "S")},
			[]string{"0 registered: [] to [0@m version 1], R none to 4/4/6, S none to 4/4/6"}},
		{"the same again", []core.Command{editedBroker("m", 0, 1, "R", "S")}, nil},
		{"an operator's change before it", []core.Command{&core.WipeWritePerm{BrokerName: "a"}, editedBroker("m", 0, 2, "R", "S")},
			[]string{"1 changed: [0@m version 1] to [0@m version 2], R 4/4/4 to 4/4/6, S 4/4/4 to 4/4/6"}},
		{"a zone alone", []core.Command{zoned}, []string{"0 changed: [0@m version 2] to [0@m zone z version 2]"}},
		{"another address to replicate from", []core.Command{ha}, []string{"0 changed: [0@m zone z version 2] to [0@m zone z version 2]"}},
		{"a slave", []core.Command{editedBroker("s", 1, 7, "R", "S")}, []string{"0 registered: [0@m zone z] to [0@m 1@s version 7]"}},
		{"another address in its slot", []core.Command{editedBroker("s2", 1, 8, "R", "S")}, []string{
			"0 replaced: [0@m 1@s version 7] to [0@m 1@s2 version 7]", "0 registered: [0@m 1@s] to [0@m 1@s2 version 8]",
		}},
		{"by 104", []core.Command{&core.UnregisterBroker{ClusterName: "c", BrokerName: "a", BrokerAddr: "s2"}},
			[]string{"0 unregistered: [0@m 1@s2 version 8] to [0@m]"}},
		{"unknown by 104", []core.Command{&core.UnregisterBroker{ClusterName: "c", BrokerName: "a", BrokerAddr: "s2"}}, nil},
		{"under another name", []core.Command{moved}, []string{
			"0 moved: [0@m version 2] to [], R 4/4/6 to none, S 4/4/6 to none", "0 registered: [] to [0@m version 3], R none to 4/4/6, S none to 4/4/6",
		}},
		{"with its connection", []core.Command{&core.EndConnection{Conn: 1}}, []string{"0 closed: [0@m version 3] to [], R 4/4/6 to none, S 4/4/6 to none"}},
	} {
		if got, _ := e.step(tt.batch...); strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
	e.step(editedBroker("m", 0, 1, "R"), editedBroker("m", 0, 1, "R", "S"))
	e.now += core.DefaultTimeoutMillis * 1e6 * 2
	if got, _ := e.step(&core.Tick{}); len(got) != 1 || got[0] != "0 expired: [0@m version 1] to [], R 4/4/6 to none, S 4/4/6 to none" {
		t.Errorf("by silence: %q", got)
	}
}

// A registration that loses its slot to a greater stateVersion is told only so far as the table has changed.
func TestEditOfALostRegistration(t *testing.T) {
	e := newEditor(true)
	holder := editedBroker("h", 0, 1, "R", "S")
	holder.Body.DataVersion.StateVersion = 5
	e.step(holder, editedBroker("l", 1, 1, "R", "S"))
	lost := editedBroker("l", 0, 2, "R", "S")
	if got, _ := e.step(lost); len(got) != 1 || got[0] != "0 conflict: [0@h 1@l version 1] to [0@h]" {
		t.Errorf("%q", got)
	}
	if got, edits := e.step(lost); len(got) != 1 || edits[0].Before != edits[0].After {
		t.Errorf("again: %q", got)
	}
}

// The digest is of all topics that changed, the names are of the first few; neither order nor table matters, each number does.
func TestDigestOfTopics(t *testing.T) {
	digests := func(topics ...string) (before, after uint64, named int) {
		e := newEditor(true)
		e.step(editedBroker("m", 0, 1, "P", "Q"))
		_, edits := e.step(editedBroker("m", 0, 2, topics...))
		return edits[0].Before.Digest, edits[0].After.Digest, len(edits[0].Topics)
	}
	before, one, named := digests("T1", "T2", "T3", "T4", "T5", "T6")
	if _, other, _ := digests("T6", "T5", "T4", "T3", "T2", "T1"); before != 0 || one == 0 || other != one || named != core.MaxTopicEdits {
		t.Errorf("%x, %x and %x, %d named", before, one, other, named)
	}
	if _, other, _ := digests("T1", "T2", "T3", "T4", "T5", "T7"); other == one {
		t.Error("another topic behind the named ones has the same digest")
	}
	const fnvOfPQ = 0xd57a0ba111e5d9f9 // so that other tools can compute it
	e := newEditor(true)
	_, edits := e.step(editedBroker("m", 0, 1, "P", "Q"))
	if got := edits[0].After.Digest; got != fnvOfPQ {
		t.Errorf("%#x", got)
	}
	_, edits = e.step(&core.UnregisterBroker{ClusterName: "c", BrokerName: "a", BrokerAddr: "m"})
	if edits[0].Before.Digest != fnvOfPQ || edits[0].After.Digest != 0 {
		t.Errorf("%+v", edits[0])
	}
}

// Nobody who doesn't ask pays for edits.
func TestNoEditsUnlessWanted(t *testing.T) {
	e := newEditor(false)
	if lines, _ := e.step(editedBroker("m", 0, 1, "R", "S"), &core.EndConnection{Conn: 1}); lines != nil {
		t.Errorf("%q", lines)
	}
}
