package namesrv

import (
	"strconv"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// decodeWritePerm makes WIPE_WRITE_PERM_OF_BROKER (205) or ADD_WRITE_PERM_OF_BROKER (327).
//
// Request:  brokerName string.
// Response: 0, the count of the broker's topics as text; "0" for an unknown or missing broker.
// Effects:  205 takes the write bit away; 327 sets permission 6 flat. Both last until the broker's next new DataVersion.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
func (d *decoder) decodeWritePerm(countField string, command func(brokerName string) core.Command) change {
	opaque, t := d.cmd.Opaque, d.serializeType
	c := core.Command(nothing)
	if name := field(&d.cmd, "brokerName"); name.Valid {
		c = command(name.S)
	}
	return change{
		command: c,
		answer: func(dst []byte, r *core.Result, _ *core.Snapshot) []byte {
			return appendReply(dst, t, opaque, reply{fields: []codec.ExtField{{Name: countField, Value: strconv.Itoa(r.Count)}}}, nil)
		},
	}
}
