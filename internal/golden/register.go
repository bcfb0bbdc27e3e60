package golden

import (
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// Bounds and default of a broker's timeout, in milliseconds.
const (
	defaultTimeoutMillis = 120_000
	minTimeoutMillis     = 1_000
	maxTimeoutMillis     = 365 * 24 * 3600 * 1000
)

func (m *Model) register(c *core.RegisterBroker) core.Result {
	body := c.Body
	if body == nil {
		body = &codec.RegisterBody{}
	}
	key := brokerKey{c.ClusterName, c.BrokerAddr}
	g := m.groups[c.BrokerName]

	// Decided before anything is written: the conflict, then the lone topic.
	if holder, taken := m.holder(g, c.BrokerID); taken && holder != c.BrokerAddr {
		old := m.live[brokerKey{c.ClusterName, holder}]
		if old != nil && old.version.StateVersion > body.DataVersion.StateVersion {
			g.dropOtherIDs(c.BrokerAddr, c.BrokerID)
			if own := m.live[key]; own != nil && own.name == c.BrokerName {
				m.forget(key)
			}
			return core.Result{Conflict: true}
		}
	} else if !taken && !body.NullTopicTable && len(body.Topics) == 1 {
		return core.Result{Refused: true}
	}

	// The address was another broker name's: that one loses it first.
	if before := m.live[key]; before != nil && before.name != c.BrokerName {
		m.forget(key)
		m.removeAddress(before.name, c.BrokerAddr)
	}

	first := g == nil
	if first {
		g = &group{cluster: c.ClusterName, addrs: map[int64]string{}}
		m.groups[c.BrokerName] = g
	}
	if m.clusters[c.ClusterName] == nil {
		m.clusters[c.ClusterName] = map[string]bool{}
	}
	m.clusters[c.ClusterName][c.BrokerName] = true
	g.acting = c.ActingMaster == core.ActingTrue
	g.zone = c.ZoneName

	previousMin, _ := g.minID()
	minChanged := c.BrokerID >= 0 && c.BrokerID < previousMin
	g.dropOtherIDs(c.BrokerAddr, c.BrokerID)
	if g.addrs[c.BrokerID] == "" {
		first = true
	}
	g.addrs[c.BrokerID] = c.BrokerAddr

	smallest, _ := g.minID()
	isPrimeSlave := c.ActingMaster != core.ActingAbsent && c.BrokerID > 0 && c.BrokerID == smallest
	if (c.BrokerID == 0 || isPrimeSlave) && !body.NullTopicTable {
		m.takeTopics(c, body, first)
	}

	m.live[key] = &liveEntry{
		name: c.BrokerName, last: m.now, timeout: timeoutNanos(c),
		version: body.DataVersion, conn: c.Conn, ha: c.HAServerAddr,
	}
	if body.HasFilterServers {
		delete(m.filters, key)
		if len(body.FilterServers) > 0 {
			m.filters[key] = body.FilterServers
		}
	}
	if minChanged && m.settings.NotifyMinBrokerIDChanged {
		m.notifyRegistered(c, g)
	}
	return m.masterOf(c, g)
}

// takeTopics applies the topic table and the mappings of a sender whose topics count.
func (m *Model) takeTopics(c *core.RegisterBroker, body *codec.RegisterBody, first bool) {
	before := m.live[brokerKey{c.ClusterName, c.BrokerAddr}]
	changed := first || before == nil || before.version != body.DataVersion

	if m.settings.DeleteTopicWithBrokerRegistration && len(body.Mappings) == 0 {
		sent := map[string]bool{}
		for _, t := range body.Topics {
			sent[t.Key] = true
		}
		for _, topic := range sortedKeys(m.topics) {
			if _, has := m.topics[topic][c.BrokerName]; has && !sent[topic] {
				m.dropQueue(topic, c.BrokerName)
				m.dropMapping(topic, c.BrokerName)
			}
		}
	}

	for _, t := range body.Topics {
		if !t.HasName {
			continue
		}
		if _, has := m.topics[t.Name][c.BrokerName]; has && !changed {
			continue
		}
		perm := t.Perm
		if c.BrokerID != 0 && c.ActingMaster == core.ActingTrue {
			perm &^= codec.PermWrite
		}
		m.putQueue(t.Name, codec.QueueData{
			BrokerName: c.BrokerName, ReadQueueNums: t.ReadQueueNums, WriteQueueNums: t.WriteQueueNums,
			Perm: perm, TopicSysFlag: t.TopicSysFlag,
		})
	}

	for _, info := range body.Mappings {
		host := c.BrokerName
		if info.BrokerName.Valid {
			host = info.BrokerName.S
		}
		if known, ok := m.mappings[info.Key][host]; ok && !changed && known.info.Epoch >= info.Epoch {
			continue
		}
		if m.mappings[info.Key] == nil {
			m.mappings[info.Key] = map[string]mapping{}
		}
		m.mappings[info.Key][host] = mapping{registrant: c.BrokerName, info: info}
	}
}

// notifyRegistered tells the others that c is the smallest id now; one that is alone tells itself.
func (m *Model) notifyRegistered(c *core.RegisterBroker, g *group) {
	var recipients []string
	for _, id := range g.ids() {
		if id != c.BrokerID || len(g.addrs) == 1 {
			recipients = append(recipients, g.addrs[id])
		}
	}
	m.effects = append(m.effects, &core.NotifyMinBrokerID{
		Recipients: recipients, MinBrokerID: c.BrokerID, MinBrokerAddr: c.BrokerAddr, HABrokerAddr: c.HAServerAddr,
	})
}

// masterOf is what a slave learns from the answer to its registration.
func (m *Model) masterOf(c *core.RegisterBroker, g *group) core.Result {
	if c.BrokerID == 0 {
		return core.Result{}
	}
	addr, taken := m.holder(g, 0)
	if !taken {
		return core.Result{}
	}
	master := m.live[brokerKey{c.ClusterName, addr}]
	if master == nil {
		return core.Result{}
	}
	return core.Result{MasterAddr: codec.NullString{S: addr, Valid: true}, HAServerAddr: master.ha}
}

// holder is the address under id; g may be nil.
func (m *Model) holder(g *group, id int64) (addr string, taken bool) {
	if g == nil {
		return "", false
	}
	addr, taken = g.addrs[id]
	return addr, taken
}

func timeoutNanos(c *core.RegisterBroker) int64 {
	millis := int64(defaultTimeoutMillis)
	if c.HasTimeout {
		millis = min(max(c.TimeoutMillis, minTimeoutMillis), maxTimeoutMillis)
	}
	return millis * int64(time.Millisecond)
}
