package core

import "github.com/waymark-mq/waymark/codec"

// AppendMemberGroup appends the answer to 901: the members under their true ids.
// Cluster and name are echoed, not checked.
func (s *Snapshot) AppendMemberGroup(dst []byte, clusterName, brokerName codec.NullString) []byte {
	dst = append(dst, `{"brokerMemberGroup":{"brokerAddrs":`...)
	var addrs []Address
	if g := s.brokers.group(brokerName.S); g != nil && brokerName.Valid {
		addrs = g.Addrs
	}
	dst = appendAddrs(dst, codec.Legacy, addrs)
	if brokerName.Valid {
		dst = append(dst, `,"brokerName":`...)
		dst = codec.AppendString(dst, brokerName.S)
	}
	if clusterName.Valid {
		dst = append(dst, `,"cluster":`...)
		dst = codec.AppendString(dst, clusterName.S)
	}
	return append(dst, "}}"...)
}
