package namesrv

import "github.com/waymark-mq/waymark/core"

// decodeDeleteKV makes DELETE_KV_CONFIG (102) ready to be made durable.
//
// Request:  namespace string, key string; a missing one deletes nothing.
// Response: 0 once it is on disk and published, also when there was nothing; 1 when the file can't be written.
// Effects:  the namespace stays, even empty.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
func (d *decoder) decodeDeleteKV() *durable {
	ns, key := field(&d.cmd, "namespace"), field(&d.cmd, "key")
	if !ns.Valid || !key.Valid {
		return &durable{command: nothing}
	}
	return &durable{command: &core.DeleteKV{By: d.session.asker(), Namespace: ns.S, Key: key.S}}
}
