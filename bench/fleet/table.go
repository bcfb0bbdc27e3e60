package fleet

import (
	"strconv"
	"strings"

	"github.com/waymark-mq/waymark/bench/topology"
	"github.com/waymark-mq/waymark/profiles"
)

// Numbers of a table that change are written with a fixed width.
const (
	firstCounter int64 = 1_000_000
	firstStamp   int64 = 1_700_000_000_000 // milliseconds since 1970
)

// table is the body of a registration with one set of topics, and where in it stands what changes. It is shared by brokers
// and not written to.
//
// Shapes: those of brokers 5.5.0 and 4.9.7, members in alphabetical order, as recorded in conformance/testdata.
type table struct {
	body    []byte
	queues  []int // where each topic's readQueueNums stands
	numbers [2]string
	counter int // where dataVersion's counter stands
	stamp   int // and its timestamp
	mapping int // where mappingDataVersion's timestamp stands; 0: 4.x has none
}

// version is the state of a broker's table: how often its DataVersion was advanced, and how many topics were changed so far.
type version struct{ advanced, changed int }

func newTable(f *profiles.Fleet, t *topology.Topology, set *topology.TopicSet) *table {
	out := &table{numbers: queueNumbers(f.Queues), queues: make([]int, len(set.Indexes))}
	var b strings.Builder
	number := func(n int64) (at int) {
		at = b.Len()
		b.WriteString(strconv.FormatInt(n, 10))
		return at
	}
	b.WriteString(`{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":`)
	out.counter = number(firstCounter)
	if f.Release == 5 {
		b.WriteString(`,"stateVersion":0`)
	}
	b.WriteString(`,"timestamp":`)
	out.stamp = number(firstStamp)
	b.WriteByte('}')
	if f.Release == 5 {
		b.WriteString(`,"mappingDataVersion":{"counter":0,"stateVersion":0,"timestamp":`)
		out.mapping = number(firstStamp)
		b.WriteByte('}')
	}
	b.WriteString(`,"topicConfigTable":{`)
	for i, index := range set.Indexes {
		if i > 0 {
			b.WriteByte(',')
		}
		topic := t.Topics[index] // letters and digits
		b.WriteString(`"` + topic + `":{`)
		if f.Release == 5 {
			b.WriteString(`"attributes":{},`)
		}
		b.WriteString(`"order":false,"perm":6,"readQueueNums":`)
		out.queues[i] = b.Len()
		b.WriteString(out.numbers[0] + `,"topicFilterType":"SINGLE_TAG","topicName":"` + topic + `","topicSysFlag":0,"writeQueueNums":` + out.numbers[0] + `}`)
	}
	b.WriteByte('}')
	if f.Release == 5 {
		b.WriteString(`,"topicQueueMappingDetailMap":{},"topicQueueMappingInfoMap":{}`)
	}
	b.WriteString(`}}`)
	out.body = []byte(b.String())
	return out
}

// queueNumbers are the two numbers of queues between which a topic changes, of the same width.
func queueNumbers(queues int) [2]string {
	n, other := strconv.Itoa(queues), strconv.Itoa(queues-1)
	if len(n) != len(other) || other == "0" {
		other = strconv.Itoa(queues + 1)
	}
	return [2]string{n, other}
}

// append appends the body of that version, sent at a time in milliseconds since 1970.
func (t *table) append(dst []byte, v version, sentMillis int64) []byte {
	at := len(dst)
	dst = append(dst, t.body...)
	body := dst[at:]
	put := func(at int, n int64) { copy(body[at:], strconv.FormatInt(n, 10)) }
	put(t.counter, firstCounter+int64(v.advanced))
	put(t.stamp, firstStamp+int64(v.advanced))
	if t.mapping > 0 {
		put(t.mapping, sentMillis)
	}
	// Topics change in turn: each was changed as often as there were whole turns, those at the front once more.
	if n := len(t.queues); n > 0 {
		turns, front := v.changed/n, v.changed%n
		for i, at := range t.queues {
			times := turns
			if i < front {
				times++
			}
			copy(body[at:], t.numbers[times%2])
			if v.changed < n && i >= front {
				break // the rest was never changed
			}
		}
	}
	return dst
}
