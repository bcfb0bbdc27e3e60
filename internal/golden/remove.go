package golden

import (
	"cmp"
	"slices"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// unregister takes the address from the broker name, whatever id and cluster
// say; the live entry only if it is that broker name's.
func (m *Model) unregister(c *core.UnregisterBroker) {
	key := brokerKey{c.ClusterName, c.BrokerAddr}
	if e := m.live[key]; e != nil && e.name == c.BrokerName {
		m.forget(key)
	}
	m.removeAddress(c.BrokerName, c.BrokerAddr)
}

func (m *Model) endConnection(conn core.ConnID) {
	for _, key := range m.liveKeys() {
		if m.live[key].conn == conn {
			m.lose(key)
		}
	}
}

// tick forgives the lateness of a frozen process, then removes who is silent for too long.
func (m *Model) tick(latenessNanos int64) {
	var expired []brokerKey
	for _, key := range m.liveKeys() {
		e := m.live[key]
		if latenessNanos > 0 {
			e.last = min(e.last+latenessNanos, m.now)
		}
		if e.last+e.timeout < m.now {
			expired = append(expired, key)
		}
	}
	slices.SortStableFunc(expired, func(a, b brokerKey) int {
		return cmp.Compare(m.live[a].last+m.live[a].timeout, m.live[b].last+m.live[b].timeout)
	})
	for _, key := range expired {
		conn := m.live[key].conn
		if m.lose(key) && conn != 0 {
			m.effects = append(m.effects, &core.CloseConnection{Conn: conn})
		}
	}
}

// lose removes a live entry that expired or lost its connection. Its group
// loses the address only if it holds it and is of the entry's cluster; otherwise
// (replaced address, name of another cluster) the entry goes quietly.
func (m *Model) lose(key brokerKey) (resolved bool) {
	name := m.live[key].name
	m.forget(key)
	g := m.groups[name]
	if g == nil || g.cluster != key.cluster {
		return false
	}
	if _, holds := g.idOf(key.addr); !holds {
		return false
	}
	m.removeAddress(name, key.addr)
	return true
}

func (m *Model) forget(key brokerKey) {
	delete(m.live, key)
	delete(m.filters, key)
}

// removeAddress takes addr from the group and does all that follows.
func (m *Model) removeAddress(name, addr string) {
	g := m.groups[name]
	if g == nil {
		return
	}
	id, holds := g.idOf(addr)
	if !holds {
		return
	}
	oldMin, hadMin := g.minID()
	delete(g.addrs, id)
	if len(g.addrs) == 0 {
		m.dropGroup(name)
		return
	}
	if !g.acting {
		return
	}
	if _, hasMaster := g.addrs[0]; !hasMaster {
		m.changePerms(name, func(perm int32) int32 { return perm &^ codec.PermWrite })
	}
	newMin, hasMin := g.minID()
	if !m.settings.NotifyMinBrokerIDChanged || !hadMin || id != oldMin || !hasMin {
		return
	}
	var recipients []string
	for _, id := range g.ids() {
		recipients = append(recipients, g.addrs[id])
	}
	m.effects = append(m.effects, &core.NotifyMinBrokerID{
		Recipients: recipients, MinBrokerID: newMin, MinBrokerAddr: g.addrs[newMin],
		OfflineBrokerAddr: codec.NullString{S: addr, Valid: true},
	})
}

// dropGroup removes a broker name from everywhere.
func (m *Model) dropGroup(name string) {
	delete(m.groups, name)
	for cluster, names := range m.clusters {
		delete(names, name)
		if len(names) == 0 {
			delete(m.clusters, cluster)
		}
	}
	for _, topic := range sortedKeys(m.topics) {
		m.dropQueue(topic, name)
	}
	m.dropMappings(name)
}

// liveKeys are the keys of the live table by cluster, then address.
func (m *Model) liveKeys() []brokerKey {
	var keys []brokerKey
	for key := range m.live {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b brokerKey) int {
		return cmp.Or(cmp.Compare(a.cluster, b.cluster), cmp.Compare(a.addr, b.addr))
	})
	return keys
}
