package api

import (
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
