package core

import "github.com/waymark-mq/waymark/codec"

// ClusterInfo is the answer to 106: all broker groups and clusters.
func (s *Snapshot) ClusterInfo() List {
	return newList(&s.brokers.clusterInfo, s.brokers.infoBytes, s.brokers.appendClusterInfo)
}

// SystemTopics is the answer to 304: cluster names, their broker names, and one broker's address.
func (s *Snapshot) SystemTopics() List {
	return newList(&s.brokers.systemTopics, s.brokers.infoBytes, s.brokers.appendSystemTopics)
}

// infoBytes is an upper bound of the answer to 106, and of that to 304, which has the same names once.
func (t *brokerTable) infoBytes() int {
	n := len(`{"brokerAddrTable":{},"clusterAddrTable":{}}`)
	for _, g := range t.byName {
		n += len(g.queueHead) + len(g.brokerData[codec.Legacy])
	}
	for _, c := range t.clusters {
		n += listedBytes(c.name) + len(`:[]`)
		for _, b := range c.brokers {
			n += listedBytes(b)
		}
	}
	return n
}

func (t *brokerTable) appendClusterInfo(dst []byte) []byte {
	dst = append(dst, `{"brokerAddrTable":{`...)
	for i, g := range t.byName {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = codec.AppendString(dst, g.Name)
		dst = append(dst, ':')
		dst = append(dst, g.brokerData[codec.Legacy]...)
	}
	dst = append(dst, `},"clusterAddrTable":{`...)
	for i, c := range t.clusters {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = codec.AppendString(dst, c.name)
		dst = append(dst, ':')
		dst = appendStrings(dst, c.brokers)
	}
	return append(dst, "}}"...)
}

func (t *brokerTable) appendSystemTopics(dst []byte) []byte {
	names := map[string]bool{}
	for _, c := range t.clusters {
		names[c.name] = true
		for _, b := range c.brokers {
			names[b] = true
		}
	}
	dst = append(dst, '{')
	if len(t.byName) > 0 {
		dst = append(dst, `"brokerAddr":`...)
		dst = codec.AppendString(dst, t.byName[0].Addrs[0].Addr)
		dst = append(dst, ',')
	}
	dst = append(dst, `"topicList":`...)
	dst = appendStrings(dst, sortedKeys(names))
	return append(dst, '}')
}
