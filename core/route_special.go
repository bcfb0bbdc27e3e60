package core

import (
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/codec"
)

// member is one broker of a route answer that isn't made of fragments alone.
type member struct {
	queue
	group *Group
	addrs []Address
}

// appendSpecial appends the route answers that depend on more than the topic:
// the acting master, the client's zone, filter servers.
func (s *Snapshot) appendSpecial(dst []byte, r *TopicRoute, o RouteOptions) []byte {
	members, dropped := s.members(r, string(o.Zone))
	e := s.extrasOf(r)
	dst = append(dst, `{"brokerDatas":[`...)
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = m.group.appendBrokerData(dst, o.Dialect, m.addrs)
	}
	dst = append(dst, `],"filterServerTable":`...)
	dst = s.appendFilterServers(dst, members, dropped)
	dst = e.appendOrderConf(dst)
	dst = append(dst, `,"queueDatas":[`...)
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = s.appendQueue(dst, m.queue)
	}
	dst = append(dst, ']')
	dst = e.appendMappings(dst, o.Dialect)
	return append(dst, '}')
}

// members returns the topic's brokers as the client is to see them, and those that
// its zone keeps from it. The zone filter sees an acting master as a master.
func (s *Snapshot) members(r *TopicRoute, zone string) (kept, dropped []member) {
	stands := s.settings.SupportActingMaster && !strings.HasPrefix(r.name, memberTopicPrefix)
	kept = make([]member, 0, len(r.list.queues))
	for _, q := range r.list.queues {
		g := s.brokers.groups[q.group()]
		m := member{q, g, g.Addrs}
		if stands && s.acting(q) {
			m.addrs = withActingMaster(g.Addrs)
		}
		if zone == "" || keptInZone(m, zone) {
			kept = append(kept, m)
		} else {
			dropped = append(dropped, m)
		}
	}
	return kept, dropped
}

// withActingMaster shows the smallest id under the master's.
func withActingMaster(addrs []Address) []Address {
	out := slices.Clone(addrs)
	i := slices.IndexFunc(out, func(a Address) bool { return a.BrokerID >= MasterID })
	out[i].BrokerID = MasterID
	return out
}

func keptInZone(m member, zone string) bool {
	if !slices.ContainsFunc(m.addrs, func(a Address) bool { return a.BrokerID == MasterID }) {
		return true
	}
	return m.group.ZoneName.Valid && equalIgnoreCase(m.group.ZoneName.S, zone)
}

// appendFilterServers appends the map from broker address to its filter servers. An address
// of a dropped broker is left out, also where a kept one has the same, as in Apache's.
func (s *Snapshot) appendFilterServers(dst []byte, members, dropped []member) []byte {
	dst = append(dst, '{')
	if s.filtered > 0 {
		servers := map[string][]string{}
		for _, m := range members {
			for _, a := range m.addrs {
				if l, ok := s.live.Get(liveKey(m.group.ClusterName, a.Addr)); ok && len(l.FilterServers) > 0 {
					servers[a.Addr] = l.FilterServers
				}
			}
		}
		for _, m := range dropped {
			for _, a := range m.addrs {
				delete(servers, a.Addr)
			}
		}
		dst = appendStringLists(dst, servers)
	}
	return append(dst, '}')
}

// appendStringLists appends the members of a JSON object of lists, by key.
func appendStringLists(dst []byte, lists map[string][]string) []byte {
	for i, k := range sortedKeys(lists) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = codec.AppendString(dst, k)
		dst = append(dst, ':')
		dst = appendStrings(dst, lists[k])
	}
	return dst
}
