package namesrv

import (
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// unregisterBroker takes UNREGISTER_BROKER (104).
//
// Request:  brokerName string, brokerAddr string, clusterName string required; brokerId long.
// Response: 0, also for an unknown broker, once it is applied; 1 for a missing name.
// Effects:  the address goes from the broker name, whatever the id and the cluster say.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
// Differs:  Apache answers before it is applied, and 0 for missing names.
//
// It is never refused for what waits, since that would cost routes; so it is decoded here
// and holds no more than its names.
func (l *loop) unregisterBroker(dst []byte) []byte {
	names := 0
	for _, name := range []string{"brokerName", "brokerAddr", "clusterName"} {
		v, ok := l.cmd.Field(name)
		if !ok {
			return l.fail(dst, codec.ResponseSystemError, name+" is missing")
		}
		names += len(v)
	}
	if names > maxNamesBytes {
		return l.fail(dst, codec.ResponseSystemError, "names are longer than 64 KiB")
	}
	id, _ := l.cmd.Int64("brokerId")
	var d *deed
	if l.audit != nil {
		d = newDeed(l.session.conn, &l.cmd)
	}
	l.enqueue(l.session, write{decoded: change{
		command: &core.UnregisterBroker{
			By:          l.session.asker(),
			ClusterName: field(&l.cmd, "clusterName").S, BrokerName: field(&l.cmd, "brokerName").S,
			BrokerAddr: field(&l.cmd, "brokerAddr").S, BrokerID: id,
		},
		opaque: l.cmd.Opaque,
		asked:  l.forLater(),
		bytes:  int64(names),
		deed:   d,
		answer: l.plainAnswer(l.cmd.Opaque, l.cmd.IsOneway()),
	}})
	return dst
}

// maxNamesBytes bounds the names of a request that no budget refuses.
const maxNamesBytes = 64 << 10
