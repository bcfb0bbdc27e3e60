package namesrv

import (
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// getUnitTopics answers GET_UNIT_TOPIC_LIST (311), GET_HAS_UNIT_SUB_TOPIC_LIST (312)
// and GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST (313).
//
// Request:  nothing.
// Response: 0 {"topicList":[…]}; 1 "disable" with enableTopicList=false.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
// Differs:  any broker's flags count; Apache looks at one, whichever comes first.
func (l *loop) getUnitTopics(dst []byte, which core.UnitList) []byte {
	if !l.settings.Load().EnableTopicList {
		return l.fail(dst, codec.ResponseSystemError, remarkDisabled)
	}
	return l.list(dst, l.table.Load().UnitTopics(which))
}
