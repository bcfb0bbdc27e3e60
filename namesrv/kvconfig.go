package namesrv

import (
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// getKVConfig answers GET_KV_CONFIG (101).
//
// Request:  namespace string, key string. Response: 0, field value; 22 with a remark and empty fields.
func (l *loop) getKVConfig(dst []byte) []byte {
	ns, key := field(&l.cmd, "namespace"), field(&l.cmd, "key")
	if v, ok := l.table.Load().KV(ns.S, key.S); ok && ns.Valid && key.Valid {
		return l.reply(dst, reply{fields: []codec.ExtField{{Name: "value", Value: v}}}, nil)
	}
	remark := remarkNoConfigItem + orNull(&l.cmd, "namespace") + " Key: " + orNull(&l.cmd, "key")
	return l.reply(dst, reply{code: codec.ResponseQueryNotFound, remark: remark, fields: noFields}, nil)
}

// getKVListByNamespace answers GET_KVLIST_BY_NAMESPACE (219).
//
// Request:  namespace string. Response: 0 {"table":{…}}, also of an empty namespace; 22 with a remark for an unknown one.
func (l *loop) getKVListByNamespace(dst []byte) []byte {
	ns := field(&l.cmd, "namespace")
	if table, ok := l.table.Load().KVTable(ns.S); ok && ns.Valid {
		return l.succeed(dst, table)
	}
	return l.fail(dst, codec.ResponseQueryNotFound, remarkNoConfigItem+orNull(&l.cmd, "namespace"))
}

// decodePutKV makes PUT_KV_CONFIG (100) ready to be made durable.
//
// Request:  namespace string required, key string required, value string (missing reads as absent later).
// Response: 0 once it is on disk and published; 1 with a remark when a name is missing or the file can't be written.
func (d *decoder) decodePutKV() (*durable, *reply) {
	ns, key := field(&d.cmd, "namespace"), field(&d.cmd, "key")
	if !ns.Valid || !key.Valid {
		return nil, &reply{code: codec.ResponseSystemError, remark: remarkKVNull}
	}
	value := field(&d.cmd, "value")
	if ns.S == core.OrderTopicConfig && value.Valid {
		if err := checkOrderConf(value.S); err != nil {
			d.events.badOrderConf(key.S, value.S)
			if d.settings.Load().OrderConfStrict {
				return nil, &reply{code: codec.ResponseSystemError, remark: err.Error()}
			}
		}
	}
	return &durable{command: &core.PutKV{Namespace: ns.S, Key: key.S, Value: value}}, nil
}

// decodeDeleteKV makes DELETE_KV_CONFIG (102) ready to be made durable. Always code 0 once written;
// a missing name deletes nothing.
func (d *decoder) decodeDeleteKV() *durable {
	ns, key := field(&d.cmd, "namespace"), field(&d.cmd, "key")
	if !ns.Valid || !key.Valid {
		return &durable{command: nothing}
	}
	return &durable{command: &core.DeleteKV{Namespace: ns.S, Key: key.S}}
}
