package codec

import "fmt"

// ParseTopicRouteQueues reads queueDatas out of route JSON in either dialect,
// the body of REGISTER_TOPIC_IN_NAMESRV (217); all else in it is ignored. No
// body, null, and absent or null queueDatas are nil. Absent and null members
// are 0 or "", and a null entry is all zeros: an entry without a broker, where
// the nameserver stops.
func ParseTopicRouteQueues(body []byte) ([]QueueData, error) {
	if len(body) == 0 {
		return nil, nil
	}
	r := jsonReader{b: body}
	if r.null() {
		return nil, r.finish()
	}
	var queues []QueueData
	if r.open('{') {
		for key, ok := r.member(); ok; key, ok = r.member() {
			if string(key) == "queueDatas" {
				queues = r.queueDatas()
			} else {
				r.skip()
			}
		}
	}
	if err := r.finish(); err != nil {
		return nil, fmt.Errorf("codec: route body: %w", err)
	}
	return queues, nil
}

func (r *jsonReader) queueDatas() []QueueData {
	if r.null() || !r.open('[') {
		return nil
	}
	var queues []QueueData
	for r.element() {
		if len(queues) == maxBodyEntries {
			r.err = ErrTooManyEntries
			return nil
		}
		queues = append(queues, r.queueData())
	}
	return queues
}

func (r *jsonReader) queueData() QueueData {
	var q QueueData
	if r.null() || !r.open('{') {
		return q
	}
	for key, ok := r.member(); ok; key, ok = r.member() {
		switch string(key) {
		case "brokerName":
			if !r.null() {
				q.BrokerName = string(r.text())
			}
		case "readQueueNums":
			q.ReadQueueNums = r.int32()
		case "writeQueueNums":
			q.WriteQueueNums = r.int32()
		case "perm":
			q.Perm = r.int32()
		case "topicSysFlag":
			q.TopicSysFlag = r.int32()
		default:
			r.skip()
		}
	}
	return q
}
