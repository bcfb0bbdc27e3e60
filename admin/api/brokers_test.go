package api

import (
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/settings"
)

// eventually waits for something that another goroutine brings about.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(waitLimit); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, waitLimit)
		}
	}
}

// A registration that never came to the table is what was last refused of its broker, known or not.
func TestRejectedRegistrationIsShown(t *testing.T) {
	f := start(t)
	b := f.dial()
	b.register("a", 1, []string{"T", "pad"})
	for name, status := range map[string]int{"a": 200, "stranger": 404} {
		b.ask(codec.ResponseSystemError, codec.RequestRegisterBroker, registration(2, []string{"T", "pad"}), header(name, "bodyCrc32", "1")...)
		var got struct {
			Why struct {
				LastRefused struct{ Kind, Detail, Peer, Address string }
			}
		}
		eventually(t, "the event of "+name, func() bool {
			f.get(status, "brokers/"+name, &got)
			return got.Why.LastRefused.Kind != ""
		})
		if r := got.Why.LastRefused; r.Kind != "rejected" || r.Detail != "crc32 not match" || r.Peer != b.addr() || r.Address != name+":10911" {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// memberView is what these tests look at of a broker.
type memberView struct {
	Members []struct {
		AddressDoubt string
		Suspect      bool
		Provisional  bool
	}
}

func TestDoubtfulAddressIsShown(t *testing.T) {
	f := start(t)
	f.dial().register("a", 1, []string{"T", "pad"}, "brokerAddr", "0.0.0.0:10911")
	f.dial().register("b", 1, []string{"T", "pad"})
	for name, want := range map[string]string{"a": "it is the unspecified one", "b": ""} {
		var got memberView
		if f.get(200, "brokers/"+name, &got); len(got.Members) != 1 || got.Members[0].AddressDoubt != want {
			t.Errorf("%s: %+v, want %q", name, got, want)
		}
	}
}

// A broker that the expiry guard holds is shown as suspect until it shows life.
func TestSuspectIsShown(t *testing.T) {
	f := start(t, func(c *settings.Settings) { c.ExpiryGuardPercent, c.ScanNotActiveBrokerInterval = 1, 10 })
	b := f.dial()
	b.register("a", 1, []string{"T", "pad"}, "heartbeatTimeoutMillis", "1000")
	suspect := func() bool {
		var got memberView
		f.get(200, "brokers/a", &got)
		return len(got.Members) == 1 && got.Members[0].Suspect
	}
	if suspect() {
		t.Error("suspect from the beginning")
	}
	eventually(t, "a is suspect", suspect)
	eventually(t, "a beats, and isn't", func() bool {
		b.ask(codec.ResponseSuccess, codec.RequestBrokerHeartbeat, "", header("a")...)
		return !suspect()
	})
}

// What an earlier process knew is shown as provisional until its broker registers, topic by topic.
func TestProvisionalIsShown(t *testing.T) {
	listening, err := net.Listen("tcp", "127.0.0.1:0") // a closed port would refuse
	if err != nil {
		t.Fatal(err)
	}
	defer listening.Close()
	addr := listening.Addr().String()
	kept := func(path string) func(*settings.Settings) {
		return func(c *settings.Settings) { c.RouteSnapshotPath = path }
	}
	path := filepath.Join(t.TempDir(), "routes")
	f := start(t, kept(path))
	f.dial().register("a", 1, []string{"T", "U"}, "brokerAddr", addr)
	f.stop()
	f = start(t, kept(path))
	want := func(brokerIs, topicIs bool, topic string) {
		t.Helper()
		var b memberView
		var q struct {
			Queues []struct{ Provisional bool }
		}
		f.get(200, "brokers/a", &b)
		f.get(200, "topics/"+topic, &q)
		if len(b.Members) != 1 || b.Members[0].Provisional != brokerIs || len(q.Queues) != 1 || q.Queues[0].Provisional != topicIs {
			t.Errorf("%s: %+v, %+v", topic, b, q)
		}
	}
	want(true, true, "T")
	f.dial().register("a", 1, []string{"T", "pad"}, "brokerAddr", addr)
	want(false, false, "T")
	want(false, true, "U")
}
