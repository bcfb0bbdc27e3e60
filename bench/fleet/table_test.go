package fleet

import (
	"testing"

	"github.com/waymark-mq/waymark/bench/topology"
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/profiles"
)

func tableOf(f profiles.Fleet) (*table, *topology.Topology) {
	f.Clusters, f.Brokers = 1, 1
	top := topology.New(&f, 1)
	return newTable(&f, top, top.Brokers[0].Topics), top
}

func parse(t *testing.T, body []byte) *codec.RegisterBody {
	t.Helper()
	b, err := codec.ParseRegisterBody(body, &codec.RegisterBodyOptions{Version: version5})
	if err != nil {
		t.Fatalf("%v\n%.500s", err, body)
	}
	return b
}

// TestTableChangesWhatItSays decodes one version after the other and counts the topics that differ.
func TestTableChangesWhatItSays(t *testing.T) {
	for _, f := range []profiles.Fleet{
		{Topics: 7, Queues: 8, Release: 5}, {Topics: 7, Queues: 10, Release: 4}, {Topics: 3, Queues: 1, Release: 5, TopicNameLength: 32},
	} {
		for _, changed := range []int{0, 1, 2, f.Topics} {
			table, top := tableOf(f)
			var v version
			last := parse(t, table.append(nil, v, 1_800_000_000_000))
			if len(last.Topics) != f.Topics || last.Topics[2].Name != top.Topics[2] || last.Topics[2].ReadQueueNums != int32(f.Queues) || last.Topics[2].Perm != 6 {
				t.Fatalf("%+v: %+v", f, last)
			}
			for n := range 40 {
				v.advanced++
				v.changed += changed
				body := parse(t, table.append(nil, v, 1_800_000_000_000))
				differ := 0
				for i := range body.Topics {
					if body.Topics[i] != last.Topics[i] {
						differ++
					}
				}
				if differ != changed || body.DataVersion == last.DataVersion {
					t.Fatalf("%+v: %d topics differ in version %d, want %d", f, differ, n, changed)
				}
				last = body
			}
		}
	}
}

// TestOnlyTheStampDiffersWhenUnchanged is how a 5.x broker differs from one of 4.x.
func TestOnlyTheStampDiffersWhenUnchanged(t *testing.T) {
	for _, release := range []int{4, 5} {
		table, _ := tableOf(profiles.Fleet{Topics: 5, Queues: 8, Release: release})
		a := string(table.append(nil, version{}, 1_800_000_000_000))
		b := string(table.append(nil, version{}, 1_800_000_030_007))
		if release == 4 {
			if a != b {
				t.Error("bodies of an unchanged table of 4.x differ")
			}
			continue
		}
		span := parse(t, []byte(a)).MappingTimestamp
		if a[span.Start:span.End] != "1800000000000" || b[span.Start:span.End] != "1800000030007" {
			t.Errorf("stamps %q, %q", a[span.Start:span.End], b[span.Start:span.End])
		}
		if a[:span.Start] != b[:span.Start] || a[span.End:] != b[span.End:] {
			t.Error("more than the stamp differs")
		}
	}
}
