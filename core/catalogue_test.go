package core_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/golden"
)

// The catalogue states what Apache 5.5.0's own unit tests assert about its
// tables (N, M, B, P, S, Z) and what its releases were seen to do beyond them
// (X). A row whose outcome differs from Apache's says so in a comment.

type row struct {
	name     string
	settings func(*core.Settings)
	run      func(f *fixture)
}

func TestCatalogue(t *testing.T) {
	for _, rows := range [][]row{topicRows, roleRows, deletionRows, tableRows, zoneRows, conflictRows, effectRows} {
		for _, r := range rows {
			t.Run(r.name, func(t *testing.T) { runBoth(t, r) })
		}
	}
}

// runBoth runs the row against the reference model and against the real table.
func runBoth(t *testing.T, r row) {
	settings := core.DefaultSettings()
	if r.settings != nil {
		r.settings(&settings)
	}
	t.Run("model", func(t *testing.T) { r.run(&fixture{t: t, tables: golden.New(settings)}) })
	t.Run("table", func(t *testing.T) { r.run(&fixture{t: t, tables: newRealTables(settings)}) })
}

func supportActing(s *core.Settings) { s.SupportActingMaster = true }
func notifyMin(s *core.Settings)     { s.NotifyMinBrokerIDChanged = true }
func deleteMissing(s *core.Settings) {
	s.SupportActingMaster = true
	s.DeleteTopicWithBrokerRegistration = true
}

// fixture drives one implementation through one row.
type fixture struct {
	t *testing.T
	tables
	now     int64
	effects []core.Effect // of the last step
}

// do applies one command and returns its result.
func (f *fixture) do(c core.Command) core.Result {
	results, effects := f.Step(f.now, []core.Command{c})
	f.effects = effects
	return results[0]
}

// pass lets the time go by and ticks.
func (f *fixture) pass(d time.Duration) {
	f.now += int64(d)
	f.do(&core.Tick{})
}

func (f *fixture) want(what, got, want string) {
	f.t.Helper()
	if got != want {
		f.t.Errorf("%s\n got %s\nwant %s", what, got, want)
	}
}

func (f *fixture) wantResult(what string, got, want core.Result) {
	f.t.Helper()
	f.want(what, fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want))
}

func (f *fixture) wantRoute(topic, want string) {
	f.t.Helper()
	f.want("route of "+topic, f.route(topic), want)
}

// wantEffects compares all effects of the last step, in any order.
func (f *fixture) wantEffects(want ...string) {
	f.t.Helper()
	got := effectTexts(f.effects)
	slices.Sort(want)
	f.want("effects", strings.Join(got, "; "), strings.Join(want, "; "))
}

// route writes a route on one line: `broker{id=addr …} read/write/perm/flags; …`, or none.
func (f *fixture) route(topic string) string {
	body, ok := f.Route(topic, golden.RouteOptions{})
	if !ok {
		return "none"
	}
	return routeLine(f.t, body)
}

func routeLine(t *testing.T, body string) string {
	t.Helper()
	var r struct {
		BrokerDatas []struct {
			BrokerName  string
			BrokerAddrs map[int64]string
		}
		QueueDatas []struct {
			BrokerName                                        string
			ReadQueueNums, WriteQueueNums, Perm, TopicSysFlag int
		}
	}
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatalf("route %s: %v", body, err)
	}
	var parts []string
	for i, b := range r.BrokerDatas {
		q := r.QueueDatas[i]
		if q.BrokerName != b.BrokerName {
			t.Fatalf("queues and brokers are not in one order: %s", body)
		}
		parts = append(parts, fmt.Sprintf("%s%s %d/%d/%d/%d", b.BrokerName, idLine(b.BrokerAddrs),
			q.ReadQueueNums, q.WriteQueueNums, q.Perm, q.TopicSysFlag))
	}
	return strings.Join(parts, "; ")
}

func idLine(addrs map[int64]string) string {
	var ids []int64
	for id := range addrs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var parts []string
	for _, id := range ids {
		parts = append(parts, fmt.Sprintf("%d=%s", id, addrs[id]))
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// versionOf writes a stored version as stateVersion/counter, or none.
func (f *fixture) versionOf(cluster, addr string) string {
	v, ok := f.DataVersion(cluster, addr)
	if !ok {
		return "none"
	}
	return fmt.Sprintf("%d/%d", v.StateVersion, v.Counter)
}

// The world of the N rows.
const (
	cluster    = "Default_Cluster"
	broker     = "Default_Broker"
	masterAddr = "127.0.0.1:10911"
	masterHA   = "127.0.0.1:20911"
	slaveAddr  = "127.0.0.1:30911"
	slaveHA    = "127.0.0.1:40911"
	otherAddr  = "127.0.0.1:50911"
)

// registering changes one thing of a registration.
type registering func(*core.RegisterBroker)

// register is a registration of Default_Broker as master with baseTopic (8/8
// queues, perm 6), acting mode on, version 0/1, over connection 1.
func register(changes ...registering) *core.RegisterBroker {
	c := &core.RegisterBroker{
		Conn: 1, ClusterName: cluster, BrokerName: broker, BrokerAddr: masterAddr,
		HAServerAddr: text(masterHA), ActingMaster: core.ActingTrue,
		Body: &codec.RegisterBody{
			DataVersion:      codec.DataVersion{Timestamp: 1_700_000_000_000, Counter: 1},
			Topics:           []codec.TopicConfig{topic("baseTopic", 6)},
			HasFilterServers: true,
		},
	}
	for _, change := range changes {
		change(c)
	}
	return c
}

func topic(name string, perm int32) codec.TopicConfig {
	return codec.TopicConfig{Key: name, Name: name, HasName: true, ReadQueueNums: 8, WriteQueueNums: 8, Perm: perm}
}

func text(s string) codec.NullString { return codec.NullString{S: s, Valid: true} }

// slave is Default_Broker's slave, id 1, on connection 2.
func slave(c *core.RegisterBroker) {
	c.BrokerID, c.BrokerAddr, c.HAServerAddr, c.Conn = 1, slaveAddr, text(slaveHA), 2
}

// topics adds topics of 8/8 queues and perm 6.
func topics(names ...string) registering {
	return func(c *core.RegisterBroker) {
		for _, name := range names {
			c.Body.Topics = append(c.Body.Topics, topic(name, 6))
		}
	}
}

// only makes these the whole topic table.
func only(configs ...codec.TopicConfig) registering {
	return func(c *core.RegisterBroker) { c.Body.Topics = configs }
}

func named(name string) registering { return func(c *core.RegisterBroker) { c.BrokerName = name } }
func inCluster(name string) registering {
	return func(c *core.RegisterBroker) { c.ClusterName = name }
}
func at(addr string) registering { return func(c *core.RegisterBroker) { c.BrokerAddr = addr } }
func id(n int64) registering     { return func(c *core.RegisterBroker) { c.BrokerID = n } }
func on(conn core.ConnID) registering {
	return func(c *core.RegisterBroker) { c.Conn = conn }
}
func acting(a core.ActingMaster) registering {
	return func(c *core.RegisterBroker) { c.ActingMaster = a }
}
func state(n int64) registering {
	return func(c *core.RegisterBroker) { c.Body.DataVersion.StateVersion = n }
}
func counter(n int64) registering {
	return func(c *core.RegisterBroker) { c.Body.DataVersion.Counter = n }
}
func zone(name string) registering {
	return func(c *core.RegisterBroker) { c.ZoneName = text(name) }
}
func timeout(d time.Duration) registering {
	return func(c *core.RegisterBroker) { c.TimeoutMillis, c.HasTimeout = d.Milliseconds(), true }
}
func filterServers(addrs ...string) registering {
	return func(c *core.RegisterBroker) { c.Body.FilterServers = addrs }
}

// leave is the unregistration of what the registration registered.
func leave(c *core.RegisterBroker) *core.UnregisterBroker {
	return &core.UnregisterBroker{ClusterName: c.ClusterName, BrokerName: c.BrokerName, BrokerAddr: c.BrokerAddr, BrokerID: c.BrokerID}
}
