package codec

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/internal/raceflag"
)

// bigTable makes the topic table of a broker with n topics as a 5.x broker
// writes it, plain and deflated, and the names.
func bigTable(n int) (plain, deflated []byte, names map[string]string) {
	names = make(map[string]string, n)
	var table strings.Builder
	parts := []any{`{"counter":7,"stateVersion":0,"timestamp":1700000000000}`, n}
	for i := range n {
		name := fmt.Sprintf("orders-of-region-%d", i)
		names[name] = name
		if i > 0 {
			table.WriteByte(',')
		}
		fmt.Fprintf(&table, `"%s":{"attributes":{},"order":false,"perm":6,"readQueueNums":8,"topicFilterType":"SINGLE_TAG","topicName":"%[1]s","topicSysFlag":0,"writeQueueNums":8}`, name)
		parts = append(parts, name+" 8 8 6 SINGLE_TAG {}")
	}
	plain = []byte(wrapped(`"dataVersion":{"counter":7,"stateVersion":0,"timestamp":1700000000000},"topicConfigTable":{` + table.String() + `}`))
	return plain, deflate(items(append(parts, "[]", 0)...)), names
}

func optionsWith(names map[string]string) *RegisterBodyOptions {
	o := &RegisterBodyOptions{Version: 513, NowMillis: testNow}
	if names != nil {
		o.Intern = func(b []byte) string { return names[string(b)] }
	}
	return o
}

func TestRegisterBodyAllocs(t *testing.T) {
	if raceflag.Enabled {
		t.Skip("the race detector allocates")
	}
	plain, deflated, names := bigTable(5000)
	o := optionsWith(names)
	for name, body := range map[string][]byte{"plain": plain, "deflated": deflated} {
		allocs := testing.AllocsPerRun(20, func() {
			if b, err := ParseRegisterBody(body, o); err != nil || len(b.Topics) != 5000 {
				t.Fatal(err)
			}
		})
		if allocs > 16 {
			t.Errorf("%s: %v allocations for 5,000 known topics, want at most 16", name, allocs)
		}
		t.Logf("%s: %v allocations", name, allocs)
	}
}

func TestAppendAllocs(t *testing.T) {
	if raceflag.Enabled {
		t.Skip("the race detector allocates")
	}
	dst := make([]byte, 0, 1024)
	v, m := DataVersion{Counter: 1}, mappingS
	if allocs := testing.AllocsPerRun(100, func() {
		dst = v.Append(dst[:0])
		dst = m.Append(dst, Standard)
		dst = AppendString(dst, "a\"b\xff")
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
	in := []byte(`{"counter":3,"stateVersion":2,"timestamp":1700000000000}`)
	if allocs := testing.AllocsPerRun(100, func() {
		if _, err := ParseDataVersion(in, 0); err != nil {
			t.Fatal(err)
		}
	}); allocs != 0 {
		t.Errorf("ParseDataVersion: %v allocations", allocs)
	}
}
