package namesrv

import "github.com/waymark-mq/waymark/core"

// decodeDeleteTopic makes DELETE_TOPIC_IN_NAMESRV (216).
//
// Request:  topic string, clusterName string (missing or empty: everywhere).
// Response: always 0.
// Effects:  the topic goes, with its static mappings, until a broker that has it registers again.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
func (d *decoder) decodeDeleteTopic() change {
	c := change{answer: d.plainAnswer(d.cmd.Opaque, d.cmd.IsOneway())}
	topic := field(&d.cmd, "topic")
	if !topic.Valid {
		c.command = nothing
		return c
	}
	c.command = &core.DeleteTopic{By: d.session.asker(), Topic: topic.S, ClusterName: field(&d.cmd, "clusterName").S}
	return c
}
