package namesrv

import (
	"unsafe"

	"github.com/valyala/bytebufferpool"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// Remarks that are part of the protocol.
const (
	remarkBusy         = "[OVERLOAD]system busy, start flow control for a while"
	remarkGoAway       = "please go away"
	remarkNotReady     = "name server not ready"
	remarkDisabled     = "disable"
	remarkNotSet       = "not set any response code" // of 901, beside code 0
	remarkCRC          = "crc32 not match"
	remarkRefused      = "register broker failed"
	remarkKVNull       = "namespace or key is null"
	remarkBlackList    = "Can not update config in black list."
	remarkProperties   = "string2Properties error"
	remarkBodyPrefix   = "org.apache.rocketmq.remoting.exception.RemotingCommandException: Failed to decode RegisterBrokerBody, "
	remarkJSONPrefix   = "com.alibaba.fastjson2.JSONException: "
	remarkNullPrefix   = "java.lang.NullPointerException: "
	remarkIndexPrefix  = "java.lang.ArrayIndexOutOfBoundsException: Index "
	remarkIndexSuffix  = " out of bounds for length 613, "
	remarkNoTopic      = "No topic route info in name server for the topic: "
	remarkNoTopicHelp  = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."
	remarkNoPermission = "no permission from " // ours
	remarkNoConfigItem = "No config item, Namespace: "
)

// noFields is the field map of answers that have a header type but nothing in it:
// {} in JSON, where other answers have no map at all.
var noFields = []codec.ExtField{}

// reply is an answer without its opaque: a response code, a remark ("" is none)
// and fields (nil is none).
type reply struct {
	code   int32
	remark string
	fields []codec.ExtField
}

// busyReply is the answer to what finds its budget used up.
var busyReply = reply{code: codec.ResponseSystemBusy, remark: remarkBusy}

// goAwayReply is the answer of a server that is about to stop, to clients that understand it.
var goAwayReply = reply{code: codec.ResponseGoAway, remark: remarkGoAway}

// sendReply sends an answer without a body from off the loop.
func (s *Server) sendReply(sess *session, opaque int32, r reply) {
	buf := bytebufferpool.Get()
	buf.B = appendReply(buf.B, s.serializeType, opaque, r, nil)
	sess.conn.SendBuffer(buf)
}

// plainAnswer answers a change with code 0 and nothing else; one-way requests have no answer.
func (s *Server) plainAnswer(opaque int32, oneway bool) func([]byte, *core.Result, *core.Snapshot) []byte {
	if oneway {
		return nil
	}
	t := s.serializeType
	return func(dst []byte, _ *core.Result, _ *core.Snapshot) []byte { return appendSuccess(dst, t, opaque, nil) }
}

// appendReply appends a whole answer.
func appendReply(dst []byte, t codec.SerializeType, opaque int32, r reply, body []byte) []byte {
	return codec.AppendFrame(dst, t, &codec.Header{
		Code: r.code, Flag: codec.FlagResponse, Opaque: opaque, Version: codec.ServerVersion,
		Remark: r.remark, HasRemark: r.remark != "", ExtFields: r.fields,
	}, body)
}

// appendSuccess appends an answer of code 0 that is nothing but its body.
func appendSuccess(dst []byte, t codec.SerializeType, opaque int32, body []byte) []byte {
	start := len(dst)
	return codec.FinishFrame(append(codec.AppendSuccessStart(dst, t, opaque), body...), start)
}

// viewString is b as a string without a copy, for as long as b isn't written.
func viewString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// orNull is a field as Java prints it.
func orNull(c *codec.Command, name string) string {
	v, ok := c.Field(name)
	if !ok {
		return "null"
	}
	return string(v)
}

// field is a field as text that may be missing.
func field(c *codec.Command, name string) codec.NullString {
	v, ok := c.Field(name)
	return codec.NullString{S: string(v), Valid: ok}
}
