package namesrv

import (
	"errors"
	"strconv"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// queryDataVersion answers QUERY_DATA_VERSION (322): whether the broker has to
// register again. It counts as a sign of life, also when the answer is "changed".
//
// Request:  clusterName string required, brokerAddr string required; body DataVersion, may be missing. One-way as a heartbeat.
// Response: 0, changed=true|false, body the stored DataVersion, none for an unknown broker; 1 for a missing name or a body that is no JSON.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
// Differs:  as 904. One that follows unapplied registrations of its own connection waits for them.
func (l *loop) queryDataVersion(dst, frame []byte) []byte {
	cluster, ok1 := l.cmd.Field("clusterName")
	addr, ok2 := l.cmd.Field("brokerAddr")
	if !ok1 || !ok2 {
		return l.fail(dst, codec.ResponseSystemError, remarkNullPrefix+"clusterName or brokerAddr is missing")
	}
	waits := l.session.pending.Load() > 0 // read before the snapshot, which then has all that was finished
	live, known := l.table.Load().Live(cluster, addr)
	if known {
		known = l.touch(live.Cell)
	}
	if l.cmd.IsOneway() {
		return dst
	}
	if waits {
		return l.later(dst, frame)
	}
	sent, hasSent, err := parseVersion(&l.cmd, l.wall().UnixMilli())
	if err != nil {
		return l.fail(dst, codec.ResponseSystemError, remarkJSONPrefix+err.Error())
	}
	if !known {
		return appendDataVersion(dst, l.serializeType, l.cmd.Opaque, &core.Result{Changed: true})
	}
	return appendDataVersion(dst, l.serializeType, l.cmd.Opaque, &core.Result{
		Known: true, Changed: !hasSent || sent != live.DataVersion, DataVersion: live.DataVersion,
	})
}

// parseVersion reads the DataVersion in the body; ok is false if there is none, or null.
func parseVersion(c *codec.Command, nowMillis int64) (v codec.DataVersion, ok bool, err error) {
	if len(c.Body) == 0 {
		return v, false, nil
	}
	v, err = codec.ParseDataVersion(c.Body, nowMillis)
	if errors.Is(err, codec.ErrNullBody) {
		return v, false, nil
	}
	return v, err == nil, err
}

func appendDataVersion(dst []byte, t codec.SerializeType, opaque int32, r *core.Result) []byte {
	start := len(dst)
	dst = codec.AppendFrameStart(dst, t, &codec.Header{
		Code: codec.ResponseSuccess, Flag: codec.FlagResponse, Opaque: opaque, Version: codec.ServerVersion,
		ExtFields: []codec.ExtField{{Name: "changed", Value: strconv.FormatBool(r.Changed)}},
	})
	if r.Known {
		dst = r.DataVersion.Append(dst)
	}
	return codec.FinishFrame(dst, start)
}

// decodeQueryDataVersion makes the command of a 322 that waited for its connection's registrations.
func (d *decoder) decodeQueryDataVersion() (change, *reply) {
	sent, hasSent, err := parseVersion(&d.cmd, d.wall().UnixMilli())
	if err != nil {
		return d.refuse(remarkJSONPrefix + err.Error())
	}
	opaque, t := d.cmd.Opaque, d.serializeType
	return change{
		command: &core.QueryDataVersion{
			Conn: d.session.id(), ClusterName: field(&d.cmd, "clusterName").S, BrokerAddr: field(&d.cmd, "brokerAddr").S,
			DataVersion: sent, HasDataVersion: hasSent,
		},
		answer: func(dst []byte, r *core.Result, _ *core.Snapshot) []byte { return appendDataVersion(dst, t, opaque, r) },
	}, nil
}
