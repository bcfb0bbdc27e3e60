package namesrv

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

// Topics that don't exist, whatever they are called, are answered 17 with a remark that any parser reads; nothing is
// remembered of them and nothing logged.
func TestMissesLeaveNothing(t *testing.T) {
	s := start(t)
	c := s.dial()
	c.register(broker("a"))
	before := len(s.logged(""))
	for _, topic := range []string{"", " ", "%", "%s%d%n", "%RETRY%group", "a\x00b", "\x01\x1f\x7f", `quote"back\slash`, "🚀 topic", "日本", "\u2028\u2029\u0085",
		"</script>", "topic\r\nline", strings.Repeat("x", 10_000), strings.Repeat("日", 10_000), strings.Repeat(`"`, 10_000), strings.Repeat("\x00", 10_000)} {
		for _, form := range []codec.SerializeType{codec.SerializeJSON, codec.SerializeROCKETMQ} {
			if topic == "" && form == codec.SerializeROCKETMQ {
				continue // it has no empty values, only absent ones
			}
			for _, version := range []int32{317, codec.ServerVersion} {
				r := routeOf(topic).from(version)
				r.form = form
				a := c.call(r) // reading it parses its header with a JSON parser
				if want := "No topic route info in name server for the topic: " + topic + "\nSee "; a.code != codec.ResponseTopicNotExist ||
					a.remark == nil || !strings.HasPrefix(*a.remark, want) || !strings.Contains(*a.remark, "http") {
					t.Errorf("%.40q, %s: %.200s", topic, formName(form), a)
				}
			}
		}
	}
	for i := range 2000 {
		if a := c.call(routeOf(fmt.Sprint("deleted topic ", i))); a.code != codec.ResponseTopicNotExist {
			t.Fatalf("miss %d: %s", i, a)
		}
	}
	s.wantLines("2,000 misses and odd names", before)
	c.want(ask(codec.RequestGetAllTopicListFromNameserver), `0 {"topicList":["Base","Pad"]}`)
}
