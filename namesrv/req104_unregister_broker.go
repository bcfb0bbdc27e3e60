package namesrv

import "github.com/waymark-mq/waymark/core"

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
