package namesrv

import "github.com/waymark-mq/waymark/codec"

// getBrokerMemberGroup answers GET_BROKER_MEMBER_GROUP (901): a broker name's members under their true ids.
//
// Request:  clusterName string, brokerName string; both echoed, left out when missing.
// Response: always 0 with the remark "not set any response code", as Apache's; body in the legacy dialect.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
func (l *loop) getBrokerMemberGroup(dst []byte) []byte {
	start := len(dst)
	dst = codec.AppendFrameStart(dst, l.serializeType, &codec.Header{
		Code: codec.ResponseSuccess, Flag: codec.FlagResponse, Opaque: l.cmd.Opaque, Version: codec.ServerVersion,
		Remark: remarkNotSet, HasRemark: true,
	})
	dst = l.table.Load().AppendMemberGroup(dst, field(&l.cmd, "clusterName"), field(&l.cmd, "brokerName"))
	return codec.FinishFrame(dst, start)
}
