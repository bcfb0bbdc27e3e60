package namesrv

// getSystemTopicList answers GET_SYSTEM_TOPIC_LIST_FROM_NS (304): not topics, but
// cluster names, their broker names and one broker's address.
//
// Request:  nothing.
// Response: 0 {"brokerAddr":"…","topicList":[…]}, without brokerAddr if there is no broker.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
func (l *loop) getSystemTopicList(dst []byte) []byte {
	return l.list(dst, l.table.Load().SystemTopics())
}
