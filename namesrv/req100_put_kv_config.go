package namesrv

import (
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// Bounds of the KV configuration. All of it is in memory and written anew with each change,
// and registrations are answered with a namespace of it.
const (
	maxKVEntryBytes = 256 << 10
	maxKVBytes      = 16 << 20
	kvEntryOverhead = 64
)

// decodePutKV makes PUT_KV_CONFIG (100) ready to be made durable.
//
// Request:  namespace string required, key string required, value string (missing reads as absent later).
// Response: 0 once it is on disk and published; 1 with a remark when a name is missing, the
// entry or the table is too large, or the file can't be written.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
// Differs:  Apache answers 0 whether or not the file could be written. orderConfStrict=true refuses values of
// ORDER_TOPIC_CONFIG that clients can't read.
func (d *decoder) decodePutKV() (*durable, *reply) {
	ns, key := field(&d.cmd, "namespace"), field(&d.cmd, "key")
	if !ns.Valid || !key.Valid {
		return nil, &reply{code: codec.ResponseSystemError, remark: remarkKVNull}
	}
	value := field(&d.cmd, "value")
	if len(ns.S)+len(key.S)+len(value.S) > maxKVEntryBytes {
		return nil, &reply{code: codec.ResponseSystemError, remark: "namespace, key and value are longer than 256 KiB together"}
	}
	if ns.S == core.OrderTopicConfig && value.Valid {
		if err := core.CheckOrderConf(value.S); err != nil {
			d.orderConfs.Add(1)
			d.events.badOrderConf(key.S, value.S)
			if d.settings.Load().OrderConfStrict {
				return nil, &reply{code: codec.ResponseSystemError, remark: err.Error()}
			}
		}
	}
	return &durable{command: &core.PutKV{By: d.session.asker(), Namespace: ns.S, Key: key.S, Value: value}}, nil
}
