package codec

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// topicSpellings are members of topicConfigTable, %s a name: of brokers, of other writers, and such as look alike.
var topicSpellings = []string{
	`"%s":{"attributes":{},"order":false,"perm":6,"readQueueNums":8,"topicFilterType":"SINGLE_TAG","topicName":"%[1]s","topicSysFlag":0,"writeQueueNums":8}`,
	`"%s":{"attributes":{},"order":false,"perm":4,"readQueueNums":8,"topicFilterType":"SINGLE_TAG","topicName":"%[1]s","topicSysFlag":0,"writeQueueNums":8}`,
	`"%s":{"perm":6,"topicName":"%[1]s"}`,
	`"%s":{"topicName":"%[1]s","perm":6}`,
	`"%s":{"topicName":"%[1]s"}`,
	`"%s":{"topicName":"%[1]s"}`,
	`"%s":{"topicName":"other","topicName":"%[1]s"}`,
	`"%s":{"topicName":"%[1]s","topicName":"other"}`,
	`"%s":{"topicName":"%[1]s","topicName":null}`,
	`"%s":{"topicName":"%[1]s-more"}`,
	`"%s":{"topicName":"other","attributes":{"topicName":"%[1]s"}}`,
	`"%s":{"attributes":{"topicName":"%[1]s"},"topicName":"%[1]s","perm":2}`,
	`"%s":{"topicName" : "%[1]s" }`,
	` "%s" :{"topicName":"%[1]s"}`,
	`"%s":{}`,
	`"%s":null`,
	`"7":{"topicName":7}`,
	`7:{"7":"%s","topicName":"7"}`,
	`7:{"7":7,"topicName":7}`,
	`"77":{"topicName":77,"perm":2}`,
	`"é%s":{"topicName":"é%[1]s"}`,
	`"\u0061%s":{"topicName":"\u0061%[1]s"}`,
	`"%s":{"topicName":"\u0061"}`,
	`"a":{"topicName":"\u0061"}`,
	`"":{"topicName":""}`,
}

// TestTopicSpellings: a topic means the same behind any other topics as in a table of its own.
func TestTopicSpellings(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var members []string
		var want []TopicConfig
		for range 2 + random.IntN(12) {
			// Few spellings in a table, so that they come again.
			spelling := topicSpellings[(random.IntN(3)+random.IntN(len(topicSpellings))*random.IntN(2))%len(topicSpellings)]
			member := spelling
			if strings.Contains(spelling, "%") {
				member = fmt.Sprintf(spelling, fmt.Sprint("topic-", random.IntN(1000)))
			}
			members = append(members, member)
			want = append(want, topicsOf(t, member)...)
		}
		want = keepLast(want, new([]uint32), func(t *TopicConfig) string { return t.Key })
		if got := topicsOf(t, members...); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\ngot  %+v\nwant %+v", strings.Join(members, ",\n"), got, want)
		}
	}
}

func topicsOf(t *testing.T, members ...string) []TopicConfig {
	t.Helper()
	in := wrapped(`"topicConfigTable":{` + strings.Join(members, ",") + `}`)
	body, err := ParseRegisterBody([]byte(in), optionsWith(nil))
	if err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	return body.Topics
}

// TestKnownTopicsAreNotParsed: of a table with two spellings two topics are parsed in full, wherever they stand.
func TestKnownTopicsAreNotParsed(t *testing.T) {
	var members []string
	for i := range 300 {
		members = append(members, fmt.Sprintf(topicSpellings[i*i%3], fmt.Sprint("topic-", i)))
	}
	p := &registerParser{options: optionsWith(nil), body: &RegisterBody{}, memory: &RegisterRoom{}}
	if err := p.parseJSON([]byte(wrapped(`"topicConfigTable":{` + strings.Join(members, ",") + `}`))); err != nil {
		t.Fatal(err)
	}
	if len(p.body.Topics) != 300 || p.shapes.learnt != 2 { // squares modulo 3 are 0 and 1
		t.Errorf("%d topics, %d parsed in full, want 300 and 2", len(p.body.Topics), p.shapes.learnt)
	}
}

// TestBrokenTopicBehindKnownOnes: what is cut off or spoilt behind a known spelling is an error as ever.
func TestBrokenTopicBehindKnownOnes(t *testing.T) {
	first, second := fmt.Sprintf(topicSpellings[0], "one"), fmt.Sprintf(topicSpellings[0], "two")
	whole := wrapped(`"topicConfigTable":{` + first + "," + second + `}`)
	from, to := strings.Index(whole, second), strings.Index(whole, second)+len(second)
	for i := from; i < to; i++ {
		if _, err := ParseRegisterBody([]byte(whole[:i]), optionsWith(nil)); err == nil {
			t.Errorf("cut at %d: no error", i)
		}
		if _, err := ParseRegisterBody([]byte(whole[:i]+"\x00"+whole[to:]), optionsWith(nil)); err == nil {
			t.Errorf("spoilt at %d: no error", i)
		}
	}
}
