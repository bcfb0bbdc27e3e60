package namesrv

import "github.com/waymark-mq/waymark/codec"

// getKVConfig answers GET_KV_CONFIG (101).
//
// Request:  namespace string, key string; missing ones print as null.
// Response: 0, field value; 22 with a remark and empty fields when there is none.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
func (l *loop) getKVConfig(dst []byte) []byte {
	ns, key := field(&l.cmd, "namespace"), field(&l.cmd, "key")
	if v, ok := l.table.Load().KV(ns.S, key.S); ok && ns.Valid && key.Valid {
		return l.reply(dst, reply{fields: []codec.ExtField{{Name: "value", Value: v}}}, nil)
	}
	remark := remarkNoConfigItem + orNull(&l.cmd, "namespace") + " Key: " + orNull(&l.cmd, "key")
	return l.reply(dst, reply{code: codec.ResponseQueryNotFound, remark: remark, fields: noFields}, nil)
}
