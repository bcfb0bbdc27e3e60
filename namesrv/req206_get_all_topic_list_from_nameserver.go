package namesrv

import "github.com/waymark-mq/waymark/codec"

// getAllTopicList answers GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206).
//
// Request:  nothing.
// Response: 0 {"topicList":[…]}; 1 "disable" with enableAllTopicList=false.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
func (l *loop) getAllTopicList(dst []byte) []byte {
	if !l.settings.Load().EnableAllTopicList {
		return l.fail(dst, codec.ResponseSystemError, remarkDisabled)
	}
	return l.list(dst, l.table.Load().TopicList())
}
