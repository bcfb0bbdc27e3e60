package namesrv

import (
	"strconv"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// decodeWritePerm makes WIPE_WRITE_PERM_OF_BROKER (205) or ADD_WRITE_PERM_OF_BROKER (327).
//
// Request:  brokerName string. Response: 0, the count of the broker's topics as text; "0" for an unknown broker.
// Effects:  205 takes the write bit away; 327 sets permission 6 flat. Both last until the broker's next new DataVersion.
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

// decodeDeleteTopic makes DELETE_TOPIC_IN_NAMESRV (216).
//
// Request:  topic string, clusterName string (missing or empty: everywhere). Response: always 0.
func (d *decoder) decodeDeleteTopic() change {
	c := change{answer: d.plain()}
	topic := field(&d.cmd, "topic")
	if !topic.Valid {
		c.command = nothing
		return c
	}
	c.command = &core.DeleteTopic{Topic: topic.S, ClusterName: field(&d.cmd, "clusterName").S}
	return c
}

// nothing is a command that changes nothing (the end of no connection), for requests
// that are answered in order all the same.
var nothing = &core.EndConnection{}

// decodeRegisterTopic makes REGISTER_TOPIC_IN_NAMESRV (217).
//
// Request:  topic string required; body TopicRouteData, of which queueDatas counts.
// Response: 0, also when unknown brokers leave nothing to do; 1 for a missing topic or a body that is no JSON.
func (d *decoder) decodeRegisterTopic() (change, *reply) {
	topic := field(&d.cmd, "topic")
	if !topic.Valid {
		return d.refuse("topic is missing")
	}
	var queues []codec.QueueData
	if len(d.cmd.Body) > 0 {
		var err error
		if queues, err = codec.ParseTopicRouteQueues(d.cmd.Body); err != nil {
			return d.refuse(remarkJSONPrefix + err.Error())
		}
	}
	return change{command: &core.RegisterTopic{Topic: topic.S, Queues: queues}, answer: d.plain()}, nil
}
