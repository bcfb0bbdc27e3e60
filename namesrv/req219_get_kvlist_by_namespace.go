package namesrv

import "github.com/waymark-mq/waymark/codec"

// getKVListByNamespace answers GET_KVLIST_BY_NAMESPACE (219).
//
// Request:  namespace string.
// Response: 0 {"table":{…}}, also of an empty namespace; 22 with a remark for an unknown one.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
func (l *loop) getKVListByNamespace(dst []byte) []byte {
	ns := field(&l.cmd, "namespace")
	if table, ok := l.table.Load().KVTable(ns.S); ok && ns.Valid {
		return l.succeed(dst, table)
	}
	return l.fail(dst, codec.ResponseQueryNotFound, remarkNoConfigItem+orNull(&l.cmd, "namespace"))
}
