package core

import "github.com/waymark-mq/waymark/codec"

// notifyRegistered tells the group that its smallest id has become smaller: all
// but the new smallest, or that one if it is alone.
func (t *Table) notifyRegistered(g *Group, haServerAddr codec.NullString) {
	least := minID(g.Addrs)
	t.notify(g, haServerAddr, codec.NullString{}, func(a Address) bool { return len(g.Addrs) > 1 && a.BrokerID == least })
}

// notifyOffline tells the rest of the group that its smallest id has left.
func (t *Table) notifyOffline(g *Group, offlineAddr string) {
	t.notify(g, codec.NullString{}, codec.NullString{S: offlineAddr, Valid: true}, func(Address) bool { return false })
}

func (t *Table) notify(g *Group, haBrokerAddr, offlineAddr codec.NullString, skip func(Address) bool) {
	if !t.settings.NotifyMinBrokerIDChanged {
		return
	}
	n := &NotifyMinBrokerID{MinBrokerID: minID(g.Addrs), OfflineBrokerAddr: offlineAddr, HABrokerAddr: haBrokerAddr}
	n.MinBrokerAddr, _ = g.addr(n.MinBrokerID)
	for _, a := range without(g.Addrs, skip) {
		n.Recipients = append(n.Recipients, a.Addr)
	}
	t.effect(n)
}
