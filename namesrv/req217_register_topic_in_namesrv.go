package namesrv

import (
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// decodeRegisterTopic makes REGISTER_TOPIC_IN_NAMESRV (217).
//
// Request:  topic string required; body TopicRouteData, of which queueDatas counts.
// Response: 0, also when unknown brokers leave nothing to do; 1 for a missing topic or a body that is no JSON.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
// Differs:  Apache answers 0 to a missing topic.
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
	return change{
		command: &core.RegisterTopic{By: d.session.asker(), Topic: topic.S, Queues: queues},
		answer:  d.plainAnswer(d.cmd.Opaque, d.cmd.IsOneway()),
	}, nil
}
