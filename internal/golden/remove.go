package golden

import (
	"cmp"
	"slices"
	"time"

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

// declareDead removes a broker on evidence from outside, unless a later sign of life or registration is known here, or the
// expiry guard holds the broker and the evidence is another's word.
func (m *Model) declareDead(c *core.DeclareDead) core.Result {
	key := brokerKey{c.ClusterName, c.BrokerAddr}
	e := m.live[key]
	if e == nil || e.name != c.BrokerName || e.last > c.Since || (e.suspect && c.By != "") {
		return core.Result{}
	}
	for _, newer := range []bool{
		e.version.StateVersion > c.Version.StateVersion, e.version.Timestamp > c.Version.Timestamp, e.version.Counter > c.Version.Counter,
	} {
		if newer {
			return core.Result{}
		}
	}
	m.lose(key)
	return core.Result{Removed: true}
}

// tick forgives the lateness of a frozen process, then removes who is silent for too long.
func (m *Model) tick(latenessNanos int64) {
	if latenessNanos > 0 {
		for _, e := range m.live {
			e.last = min(e.last+latenessNanos, m.now)
			e.suspectUntil += latenessNanos
		}
	}
	expired := m.guardExpiry()
	slices.SortStableFunc(expired, func(a, b brokerKey) int { return cmp.Compare(m.live[a].due(), m.live[b].due()) })
	for _, key := range expired {
		conn := m.live[key].conn
		if m.lose(key) && conn != 0 {
			m.effects = append(m.effects, &core.CloseConnection{Conn: conn})
		}
	}
}

// due is when the broker goes if it stays silent.
func (e *liveEntry) due() int64 {
	if e.suspect {
		return e.suspectUntil
	}
	return e.last + e.timeout
}

// guardExpiry marks those as suspect that are too many to go at once, and returns who goes now.
func (m *Model) guardExpiry() (expired []brokerKey) {
	percent := m.settings.ExpiryGuardPercent
	var fresh []*liveEntry // silent and to be held if they are too many
	doubted := 0           // silent, with the suspects of before
	for _, key := range m.liveKeys() {
		e := m.live[key]
		switch {
		case !m.holdsSlot(key):
			e.suspect = false
		case percent == 0:
			e.suspectUntil = min(e.suspectUntil, m.now-1)
		}
		switch silent := e.due() < m.now; {
		case silent:
			expired = append(expired, key)
			if !e.suspect && m.holdsSlot(key) {
				fresh = append(fresh, e)
				doubted++
			}
		case e.suspect:
			doubted++
		}
	}
	slots := 0
	for _, g := range m.groups {
		slots += len(g.addrs)
	}
	if percent == 0 || int64(doubted)*100 <= percent*int64(slots) {
		return expired
	}
	for _, e := range fresh {
		e.suspect, e.suspectUntil = true, m.now+m.settings.ExpiryGuardMaxMillis*int64(time.Millisecond)
	}
	return slices.DeleteFunc(expired, func(key brokerKey) bool { return slices.Contains(fresh, m.live[key]) })
}

// holdsSlot reports whether the entry's end would take an address from a group.
func (m *Model) holdsSlot(key brokerKey) bool {
	g := m.groups[m.live[key].name]
	if g == nil || g.cluster != key.cluster {
		return false
	}
	_, holds := g.idOf(key.addr)
	return holds
}

// Suspects are the brokers held by the expiry guard, as cluster and address.
func (m *Model) Suspects() (suspects []string) {
	for _, key := range m.liveKeys() {
		if m.live[key].suspect {
			suspects = append(suspects, key.cluster+" "+key.addr)
		}
	}
	return suspects
}

// lose removes a live entry that expired or lost its connection. Its group
// loses the address only if it holds it and is of the entry's cluster; otherwise
// (replaced address, name of another cluster) the entry goes quietly.
func (m *Model) lose(key brokerKey) (resolved bool) {
	name := m.live[key].name
	resolved = m.holdsSlot(key)
	m.forget(key)
	if resolved {
		m.removeAddress(name, key.addr)
	}
	return resolved
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
