package core

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/waymark-mq/waymark/codec"
)

// MasterID is the broker id of a master.
const MasterID = 0

// noID stands for "no smallest id".
const noID = -1

// Address is one member of a broker group.
type Address struct {
	BrokerID int64
	Addr     string
}

// Group is one broker name: its members and what answers say of them. It is
// immutable once published and has at least one address. The writer makes a new one for
// each change of the group and for each change of its topics that a registration
// would undo, so that its generation tells whether anything happened.
type Group struct {
	Name         string
	ClusterName  string // of its first registration
	ZoneName     codec.NullString
	ActingMaster bool      // enableActingMaster of the last registration
	Addrs        []Address // by id

	index      int    // in brokerTable.groups
	generation uint64 // no other group, nor the same one before a change, has it; a Live keeps it instead of the group
	// Fragments of answers, one for each dialect: the element of brokerDatas and
	// the beginning of the element of queueDatas.
	brokerData [2]string
	queueHead  string
}

// encode fills the fragments, once the batch is over and the members are final.
func (g *Group) encode() {
	for _, d := range []codec.Dialect{codec.Standard, codec.Legacy} {
		g.brokerData[d] = string(g.appendBrokerData(nil, d, g.Addrs))
	}
	g.queueHead = string(codec.AppendString([]byte(`{"brokerName":`), g.Name))
}

// clone is a shallow copy; the caller replaces what it changes.
func (g *Group) clone() *Group {
	c := *g
	return &c
}

// appendBrokerData appends the element of brokerDatas with the given addresses.
func (g *Group) appendBrokerData(dst []byte, d codec.Dialect, addrs []Address) []byte {
	dst = append(dst, `{"brokerAddrs":`...)
	dst = appendAddrs(dst, d, addrs)
	dst = append(dst, `,"brokerName":`...)
	dst = codec.AppendString(dst, g.Name)
	dst = append(dst, `,"cluster":`...)
	dst = codec.AppendString(dst, g.ClusterName)
	dst = append(dst, `,"enableActingMaster":`...)
	dst = strconv.AppendBool(dst, g.ActingMaster)
	if g.ZoneName.Valid {
		dst = append(dst, `,"zoneName":`...)
		dst = codec.AppendString(dst, g.ZoneName.S)
	}
	return append(dst, '}')
}

// appendAddrs appends the map from broker id to address.
func appendAddrs(dst []byte, d codec.Dialect, addrs []Address) []byte {
	dst = append(dst, '{')
	for i, a := range addrs {
		if i > 0 {
			dst = append(dst, ',')
		}
		if d == codec.Standard {
			dst = append(dst, '"')
		}
		dst = strconv.AppendInt(dst, a.BrokerID, 10)
		if d == codec.Standard {
			dst = append(dst, '"')
		}
		dst = append(dst, ':')
		dst = codec.AppendString(dst, a.Addr)
	}
	return append(dst, '}')
}

// addr returns the address under id.
func (g *Group) addr(id int64) (string, bool) {
	for _, a := range g.Addrs {
		if a.BrokerID == id {
			return a.Addr, true
		}
	}
	return "", false
}

func (g *Group) hasMaster() bool {
	_, ok := g.addr(MasterID)
	return ok
}

func (g *Group) hasAddr(addr string) bool {
	return slices.ContainsFunc(g.Addrs, func(a Address) bool { return a.Addr == addr })
}

// minID is the smallest id that is not negative, or noID. A negative id belongs to
// a broker that has no role yet.
func minID(addrs []Address) int64 {
	for _, a := range addrs {
		if a.BrokerID >= MasterID {
			return a.BrokerID
		}
	}
	return noID
}

// withAddr returns the members with id at addr, and addr at no other id.
func withAddr(addrs []Address, id int64, addr string) []Address {
	out := make([]Address, 0, len(addrs)+1)
	for _, a := range addrs {
		if a.BrokerID != id && a.Addr != addr {
			out = append(out, a)
		}
	}
	i, _ := slices.BinarySearchFunc(out, id, func(a Address, id int64) int { return cmp.Compare(a.BrokerID, id) })
	return slices.Insert(out, i, Address{id, addr})
}

// without returns the members that drop does not name.
func without(addrs []Address, drop func(Address) bool) []Address {
	out := make([]Address, 0, len(addrs))
	for _, a := range addrs {
		if !drop(a) {
			out = append(out, a)
		}
	}
	return out
}
