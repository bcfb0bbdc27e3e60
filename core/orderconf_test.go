package core_test

import (
	"fmt"
	"testing"

	"github.com/waymark-mq/waymark/core"
)

// Order configurations count once however many of their brokers are missing, and no more pairs are looked at than asked.
func TestOrderConfsOfAbsent(t *testing.T) {
	confs := map[string]string{"unreadable": "rubbish", "there": "Default_Broker:4"}
	for i := range 50 {
		confs[fmt.Sprint("T", i)] = "Default_Broker:4;gone:4;away:4"
	}
	table := core.NewTable(core.DefaultSettings(), map[string]map[string]string{core.OrderTopicConfig: confs})
	table.Step(0, []core.Command{register(topics("T"))}, &core.Outcome{})
	s := table.Load()
	if n := s.OrderConfsOfAbsent(1000); n != 50 {
		t.Errorf("%d, want 50", n)
	}
	if n := s.OrderConfsOfAbsent(21); n < 9 || n > 10 { // two pairs each, but for the one that is all right, or can't be read
		t.Errorf("%d of 21 pairs, want 9 or 10", n)
	}
	if n := core.NewTable(core.DefaultSettings(), nil).Load().OrderConfsOfAbsent(1000); n != 0 {
		t.Errorf("%d without configurations", n)
	}
}
