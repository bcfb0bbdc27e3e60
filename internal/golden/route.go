package golden

import (
	"maps"
	"strconv"
	"strings"
	"unicode"

	"github.com/waymark-mq/waymark/codec"
)

// memberTopicPrefix begins the topics that show a group as it is, without an acting master.
const memberTopicPrefix = "rmq_sys_SYNC_BROKER_MEMBER_"

// RouteOptions is what a route request (105) says beside the topic.
type RouteOptions struct {
	Dialect  codec.Dialect
	ZoneMode bool   // __ZONE_MODE was "true" in any letter case
	ZoneName string // __ZONE_NAME; blank: no filter
}

// routeBroker is a copy of a group for one answer.
type routeBroker struct {
	name string
	group
}

// Route is the body of GET_ROUTEINFO_BY_TOPIC (105); not ok: no route (code 17).
func (m *Model) Route(topic string, o RouteOptions) (body string, ok bool) {
	var brokers []routeBroker
	var queues []codec.QueueData
	filters := map[string][]string{}
	for _, name := range sortedKeys(m.topics[topic]) {
		g := m.groups[name]
		if g == nil {
			continue
		}
		shown := routeBroker{name: name, group: *g}
		shown.addrs = maps.Clone(g.addrs)
		brokers = append(brokers, shown)
		queues = append(queues, m.topics[topic][name])
		for _, addr := range g.addrs {
			if list := m.filters[brokerKey{g.cluster, addr}]; list != nil {
				filters[addr] = list
			}
		}
	}
	if len(brokers) == 0 {
		return "", false
	}
	if m.settings.SupportActingMaster && !strings.HasPrefix(topic, memberTopicPrefix) {
		for i := range brokers {
			substitute(brokers[i].group, queues[i])
		}
	}
	if o.ZoneMode && strings.TrimFunc(o.ZoneName, unicode.IsSpace) != "" {
		brokers, queues = filterZone(o.ZoneName, brokers, queues, filters)
	}
	return m.encodeRoute(topic, o.Dialect, brokers, queues, filters), true
}

// substitute shows the smallest id of a masterless, read-only acting group as id 0.
func substitute(g group, q codec.QueueData) {
	smallest, any := g.minID()
	if !any || smallest == 0 || !g.acting || q.Perm&codec.PermWrite != 0 {
		return
	}
	g.addrs[0] = g.addrs[smallest]
	delete(g.addrs, smallest)
}

// filterZone keeps the brokers of the zone and those without a master; queues
// and filter servers of the others go too.
func filterZone(zone string, brokers []routeBroker, queues []codec.QueueData, filters map[string][]string) ([]routeBroker, []codec.QueueData) {
	var keptBrokers []routeBroker
	var keptQueues []codec.QueueData
	var removed []routeBroker
	for i, b := range brokers {
		_, hasMaster := b.addrs[0]
		if hasMaster && !(b.zone.Valid && equalIgnoreCase(b.zone.S, zone)) {
			removed = append(removed, b)
			continue
		}
		keptBrokers = append(keptBrokers, b)
		keptQueues = append(keptQueues, queues[i])
	}
	for _, b := range removed {
		for _, addr := range b.addrs {
			delete(filters, addr)
		}
	}
	return keptBrokers, keptQueues
}

func (m *Model) encodeRoute(topic string, d codec.Dialect, brokers []routeBroker, queues []codec.QueueData, filters map[string][]string) string {
	var brokerTexts, queueTexts []string
	for _, b := range brokers {
		brokerTexts = append(brokerTexts, encodeBroker(b.name, &b.group, d))
	}
	for _, q := range queues {
		queueTexts = append(queueTexts, object(map[string]string{
			"brokerName":     quote(q.BrokerName),
			"perm":           number(int64(q.Perm)),
			"readQueueNums":  number(int64(q.ReadQueueNums)),
			"topicSysFlag":   number(int64(q.TopicSysFlag)),
			"writeQueueNums": number(int64(q.WriteQueueNums)),
		}))
	}
	filterTexts := map[string]string{}
	for addr, list := range filters {
		filterTexts[addr] = names(list)
	}
	members := map[string]string{
		"brokerDatas":       array(brokerTexts),
		"filterServerTable": object(filterTexts),
		"queueDatas":        array(queueTexts),
	}
	if conf, has := m.KV(orderNamespace, topic); has && m.settings.OrderMessageEnable {
		members["orderTopicConf"] = quote(conf)
	}
	if len(m.mappings[topic]) > 0 {
		byBroker := map[string]string{}
		for host, entry := range m.mappings[topic] {
			byBroker[host] = encodeMapping(&entry.info, d)
		}
		members["topicQueueMappingByBroker"] = object(byBroker)
	}
	return object(members)
}

func encodeBroker(name string, g *group, d codec.Dialect) string {
	members := map[string]string{
		"brokerAddrs":        encodeAddrs(g, d),
		"brokerName":         quote(name),
		"cluster":            quote(g.cluster),
		"enableActingMaster": strconv.FormatBool(g.acting),
	}
	if g.zone.Valid {
		members["zoneName"] = quote(g.zone.S)
	}
	return object(members)
}

func encodeAddrs(g *group, d codec.Dialect) string {
	addrs := map[int64]string{}
	for id, addr := range g.addrs {
		addrs[id] = quote(addr)
	}
	return intObject(addrs, d)
}

func encodeMapping(info *codec.TopicQueueMapping, d codec.Dialect) string {
	members := map[string]string{
		"dirty":       strconv.FormatBool(info.Dirty),
		"epoch":       number(info.Epoch),
		"totalQueues": number(int64(info.TotalQueues)),
	}
	for name, s := range map[string]codec.NullString{"bname": info.BrokerName, "scope": info.Scope, "topic": info.Topic} {
		if s.Valid {
			members[name] = quote(s.S)
		}
	}
	if !info.NullIDMap {
		ids := map[int32]string{}
		for _, pair := range info.CurrIDMap {
			ids[pair.Logical] = number(int64(pair.Physical))
		}
		members["currIdMap"] = intObject(ids, d)
	}
	return object(members)
}

// equalIgnoreCase is Java's String.equalsIgnoreCase: the same once every letter is
// made upper and then lower case.
func equalIgnoreCase(a, b string) bool {
	fold := func(s string) string {
		return strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, s)
	}
	return fold(a) == fold(b)
}
