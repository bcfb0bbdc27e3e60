package namesrv

import "github.com/waymark-mq/waymark/codec"

// getTopicsByCluster answers GET_TOPICS_BY_CLUSTER (224): the topics of a cluster's brokers.
//
// Request:  cluster string.
// Response: 0 {"topicList":[…]}, empty for an unknown or missing cluster; 1 "disable" with enableTopicList=false.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
func (l *loop) getTopicsByCluster(dst []byte) []byte {
	if !l.settings.Load().EnableTopicList {
		return l.fail(dst, codec.ResponseSystemError, remarkDisabled)
	}
	cluster := field(&l.cmd, "cluster")
	if !cluster.Valid {
		return l.succeed(dst, []byte(`{"topicList":[]}`))
	}
	return l.list(dst, l.table.Load().TopicsByCluster(cluster.S))
}
