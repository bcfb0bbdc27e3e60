package topology

import (
	"reflect"
	"testing"

	"github.com/waymark-mq/waymark/profiles"
)

func TestPlacement(t *testing.T) {
	for _, f := range []profiles.Fleet{
		{Clusters: 4, Brokers: 32, Topics: 400, BrokersPerTopic: 8},
		{Clusters: 4, Brokers: 100, Topics: 1000, BrokersPerTopic: 16},
		{Clusters: 2, Brokers: 7, Topics: 5},
		{Clusters: 1, Brokers: 3, Topics: 10, BrokersPerTopic: 1},
	} {
		top := New(&f, 1)
		want := f.BrokersPerTopic
		if want == 0 {
			want = f.Brokers
		}
		holders := make([]int, f.Topics)
		names := map[string]bool{}
		most, least := 0, f.Topics
		for _, b := range top.Brokers {
			most, least = max(most, len(b.Topics.Indexes)), min(least, len(b.Topics.Indexes))
			names[b.Name], names[b.Addr], names[b.HAAddr] = true, true, true
			for _, topic := range b.Topics.Indexes {
				holders[topic]++
			}
		}
		for topic, n := range holders {
			if n != want {
				t.Errorf("%+v: topic %d is on %d brokers, want %d", f, topic, n, want)
			}
		}
		if most-least > f.Topics*want/f.Brokers/2+1 {
			t.Errorf("%+v: from %d to %d topics on a broker", f, least, most)
		}
		if len(names) != 3*f.Brokers {
			t.Errorf("%+v: names or addresses are not unique", f)
		}
	}
}

// TestClustersOwnTheirTopics holds for Apache's benchmark: no topic crosses clusters.
func TestClustersOwnTheirTopics(t *testing.T) {
	top := New(&profiles.Fleet{Clusters: 4, Brokers: 32, Topics: 400, BrokersPerTopic: 8}, 1)
	home := map[int32]string{}
	shared := map[*TopicSet]bool{}
	for _, b := range top.Brokers {
		shared[b.Topics] = true
		for _, topic := range b.Topics.Indexes {
			if cluster, known := home[topic]; known && cluster != b.Cluster {
				t.Fatalf("topic %d in %s and %s", topic, cluster, b.Cluster)
			}
			home[topic] = b.Cluster
		}
	}
	if len(shared) != 4 {
		t.Errorf("%d lists of topics for 4 clusters", len(shared))
	}
}

func TestNamesFollowTheSeed(t *testing.T) {
	f := profiles.Fleet{Clusters: 1, Brokers: 2, Topics: 50, TopicNameLength: 32}
	a, b, other := New(&f, 7), New(&f, 7), New(&f, 8)
	if !reflect.DeepEqual(a.Topics, b.Topics) || a.Topics[3] == other.Topics[3] {
		t.Error("names do not follow the seed")
	}
	if got := a.Topics[17]; len(got) != 34 || got[32:] != "17" {
		t.Errorf("topic %q", got)
	}
}
