package api

import (
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
)

// A topic's route is shown with the registration that made it, whose connection it came on, and what was refused.
func TestWhyATopicIsAsItIs(t *testing.T) {
	f := start(t)
	b, tool := f.dial(), f.dial()
	b.register("a", 1, []string{"T", "pad"}, "__ZONE_NAME", "z1")
	b.register("a", 2, []string{"T", "pad"}, "__ZONE_NAME", "z1")
	b.register("b", 1, []string{"T", "pad"}, "heartbeatTimeoutMillis", "5000")
	tool.ask(codec.ResponseSuccess, codec.RequestWipeWritePermOfBroker, "", "brokerName", "a")
	tool.ask(codec.ResponseSystemError, codec.RequestRegisterBroker, registration(1, []string{"T"}), header("b", "brokerId", "3", "brokerAddr", "late:1")...)
	var got struct {
		Topic  string
		Queues []struct {
			Broker, Cluster, Zone string
			Perm, ReadQueues      int
			TopicsFrom            int64
			Members               []struct {
				ID                            int64
				Address, HAAddress            string
				SilentSeconds, TimeoutSeconds float64
				Owner                         struct {
					ID   uint64
					Peer string
					Open bool
				}
				Registration struct {
					FirstAt, At         time.Time
					Peer                string
					DataVersion         struct{ Timestamp, Counter int64 }
					Topics              int
					Applied, Recognised int
				}
			}
			Why struct {
				LastChange, LastRefused, LastPermission *struct {
					Kind, Peer, Address string
					Seq                 uint64
				}
			}
		}
	}
	f.get(200, "topics/T", &got)
	if got.Topic != "T" || len(got.Queues) != 2 {
		t.Fatalf("%+v", got)
	}
	qa, qb := got.Queues[0], got.Queues[1]
	ma := qa.Members[0]
	if qa.Broker != "a" || qa.Cluster != "c1" || qa.Zone != "z1" || qa.Perm != 4 || qa.ReadQueues != 4 || qa.TopicsFrom != 0 {
		t.Errorf("queues of a: %+v", qa)
	}
	if ma.Address != "a:10911" || ma.HAAddress != "a:10912" || ma.TimeoutSeconds != 120 || ma.Owner.Peer != b.addr() || !ma.Owner.Open || ma.Owner.ID == 0 {
		t.Errorf("member of a: %+v", ma)
	}
	r := ma.Registration
	if r.DataVersion.Counter != 2 || r.DataVersion.Timestamp != 1700000000000 || r.Applied != 2 || r.Topics != 2 || r.Peer != b.addr() ||
		time.Since(r.FirstAt) > time.Minute || r.At.Before(r.FirstAt) {
		t.Errorf("registration of a: %+v", r)
	}
	if w := qa.Why; w.LastChange.Kind != "changed" || w.LastPermission.Kind != "write_permission_wiped" || w.LastPermission.Peer != tool.addr() || w.LastRefused != nil {
		t.Errorf("why a: %+v", w)
	}
	if w := qb.Why; w.LastRefused.Kind != "refused" || w.LastRefused.Address != "late:1" || w.LastRefused.Peer != tool.addr() || w.LastPermission != nil {
		t.Errorf("why b: %+v", w)
	}
	if qb.Members[0].TimeoutSeconds != 5 {
		t.Errorf("member of b: %+v", qb.Members[0])
	}
}

// Why there is no topic: never, deleted, gone with its broker, taken off by a registration.
func TestWhyThereIsNoTopic(t *testing.T) {
	f := start(t)
	b, tool := f.dial(), f.dial()
	b.register("a", 1, []string{"Mine", "Deleted", "pad"})
	tool.ask(codec.ResponseSuccess, codec.RequestDeleteTopicInNamesrv, "", "topic", "Deleted")
	tool.ask(codec.ResponseSuccess, codec.RequestUnregisterBroker, "", header("a")...)
	for topic, want := range map[string]struct{ reason, kind, broker string }{
		"Never":   {"never_seen", "", ""},
		"Deleted": {"deleted", "topic_deleted", ""},
		"Mine":    {"broker_removed", "unregistered", "a"},
	} {
		var got struct {
			Error struct{ Code, Message string }
			Why   struct {
				Reason string
				Event  struct{ Kind, Broker, Peer string }
			}
		}
		f.get(404, "topics/"+topic, &got)
		peer := ""
		if want.kind != "" {
			peer = tool.addr()
		}
		if got.Error.Code != "topic_not_found" || got.Error.Message == "" || got.Why.Reason != want.reason ||
			got.Why.Event.Kind != want.kind || got.Why.Event.Broker != want.broker || got.Why.Event.Peer != peer {
			t.Errorf("%s: %+v", topic, got)
		}
	}
}

// An address that registers under another name leaves a trace with both: the one says why it has gone, the other why it has come. One
// that takes another's place says so with the place.
func TestWhyAnAddressMoved(t *testing.T) {
	f := start(t)
	b := f.dial()
	b.register("old", 1, []string{"T", "pad"}, "brokerAddr", "x:1")
	b.register("old", 1, []string{"T", "pad"}, "brokerId", "1", "brokerAddr", "y:1")
	b.register("new", 1, []string{"T", "pad"}, "brokerAddr", "x:1")
	b.register("new", 2, []string{"T", "pad"}, "brokerAddr", "z:1")
	var why struct {
		LastChange, LastRemoved struct{ Kind, Broker, Address, Other string }
	}
	got := struct{ Why any }{&why}
	if f.get(200, "brokers/old", &got); why.LastRemoved.Kind != "moved" || why.LastRemoved.Broker != "new" || why.LastRemoved.Other != "old" || why.LastRemoved.Address != "x:1" {
		t.Errorf("old: %+v", why)
	}
	if f.get(200, "brokers/new", &got); why.LastRemoved.Kind != "replaced" || why.LastRemoved.Address != "z:1" || why.LastRemoved.Other != "x:1" || why.LastChange.Kind != "registered" {
		t.Errorf("new: %+v", why)
	}
	var topic struct {
		Queues []struct {
			Broker string
			Why    struct{ LastRemoved struct{ Kind string } }
		}
	}
	if f.get(200, "topics/T", &topic); len(topic.Queues) != 2 || topic.Queues[0].Why.LastRemoved.Kind != "replaced" || topic.Queues[1].Why.LastRemoved.Kind != "moved" {
		t.Errorf("%+v", topic)
	}
}
