package namesrv

import (
	"encoding/binary"

	"github.com/waymark-mq/waymark/core"
)

// unregisterBroker takes UNREGISTER_BROKER (104). It is never refused for what waits, since that
// would cost routes; so what it may hold is bounded here: the body, which means nothing, is left behind.
func (l *loop) unregisterBroker(dst, frame []byte) []byte {
	b := copyFrame(frame[:len(frame)-len(l.cmd.Body)])
	binary.BigEndian.PutUint32(b.B, uint32(len(b.B)-4))
	l.enqueue(l.session, write{frame: b})
	return dst
}

// decodeUnregisterBroker makes UNREGISTER_BROKER (104).
//
// Request:  brokerName string, brokerAddr string, clusterName string required; brokerId long.
// Response: 0, also for an unknown broker, once it is applied; 1 for a missing name.
// Effects:  the address goes from the broker name, whatever the id and the cluster say.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
// Differs:  Apache answers before it is applied, and 0 for missing names.
func (d *decoder) decodeUnregisterBroker() (change, *reply) {
	for _, name := range []string{"brokerName", "brokerAddr", "clusterName"} {
		if _, ok := d.cmd.Field(name); !ok {
			return d.refuse(name + " is missing")
		}
	}
	id, _ := d.cmd.Int64("brokerId")
	return change{
		command: &core.UnregisterBroker{
			ClusterName: field(&d.cmd, "clusterName").S, BrokerName: field(&d.cmd, "brokerName").S,
			BrokerAddr: field(&d.cmd, "brokerAddr").S, BrokerID: id,
		},
		answer: d.plain(),
	}, nil
}
