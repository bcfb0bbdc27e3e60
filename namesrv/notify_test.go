package namesrv

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// fakeBroker is a broker's own port, on which NOTIFY_MIN_BROKER_ID_CHANGE (905) arrives.
type fakeBroker struct {
	t      *testing.T
	addr   string
	frames chan string
}

func listenAsBroker(t *testing.T) *fakeBroker {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	b := &fakeBroker{t, ln.Addr().String(), make(chan string, 16)}
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go b.serve(conn)
		}
	}()
	return b
}

func (b *fakeBroker) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	r := bufio.NewReader(conn)
	for {
		var prefix [8]byte
		if _, err := io.ReadFull(r, prefix[:]); err != nil {
			return
		}
		rest := make([]byte, binary.BigEndian.Uint32(prefix[:])-4)
		if _, err := io.ReadFull(r, rest); err != nil {
			return
		}
		b.frames <- string(rest)
	}
}

// want waits for a 905 and compares its fields; it returns the opaque.
func (b *fakeBroker) want(fields string) (opaque int32) {
	b.t.Helper()
	select {
	case frame := <-b.frames:
		var h struct {
			Code, Flag, Opaque, Version       int32
			Language, SerializeTypeCurrentRPC string
			Remark                            *string
			ExtFields                         map[string]string
		}
		if err := json.Unmarshal([]byte(frame), &h); err != nil {
			b.t.Fatalf("%s: %v", frame, err)
		}
		if h.Code != 905 || h.Flag != 2 || h.Version != 513 || h.Language != "JAVA" || h.SerializeTypeCurrentRPC != "JSON" || h.Remark != nil {
			b.t.Errorf("header %s", frame)
		}
		var got []string
		for _, name := range slices.Sorted(maps.Keys(h.ExtFields)) {
			got = append(got, name+"="+h.ExtFields[name])
		}
		if got := strings.Join(got, " "); got != fields {
			b.t.Errorf("notified\n got %s\nwant %s", got, fields)
		}
		return h.Opaque
	case <-time.After(waitLimit):
		b.t.Fatalf("no notification, want %s", fields)
		return 0
	}
}

func (b *fakeBroker) wantNone() {
	b.t.Helper()
	select {
	case frame := <-b.frames:
		b.t.Errorf("notified: %s", frame)
	default:
	}
}

func notifying(c *settings.Settings) { c.NotifyMinBrokerIDChanged = true }

// member is broker a under an id, listening on b's port.
func (b *fakeBroker) member(id int, acting bool) registration {
	return broker("a").set("brokerId", fmt.Sprint(id), "brokerAddr", b.addr, "haServerAddr", fmt.Sprintf("ha:%d", id),
		"enableActingMaster", fmt.Sprint(acting))
}

// Rows X22 to X25 of the catalogue, as brokers see them. A later notification that
// does come shows that an earlier one did not, since they leave in order.
func TestCatalogueNotifications(t *testing.T) {
	t.Run("X22_masterReturns", func(t *testing.T) {
		s := start(t, notifying)
		c := s.dial()
		b0, b1, b2 := listenAsBroker(t), listenAsBroker(t), listenAsBroker(t)
		c.register(b1.member(1, false), b2.member(2, false), b0.member(0, false))
		want := "haBrokerAddr=ha:0 minBrokerAddr=" + b0.addr + " minBrokerId=0"
		if o1, o2 := b1.want(want), b2.want(want); o1 != o2 {
			t.Errorf("opaques %d and %d: want the same for all", o1, o2)
		}
		b0.wantNone()
	})
	t.Run("X23_masterLeaves", func(t *testing.T) {
		s := start(t, notifying)
		c := s.dial()
		b0, b1, b2 := listenAsBroker(t), listenAsBroker(t), listenAsBroker(t)
		c.register(b0.member(0, true), b1.member(1, true), b2.member(2, true))
		c.want(b0.member(0, true).unregister(), "0")
		want := "minBrokerAddr=" + b1.addr + " minBrokerId=1 offlineBrokerAddr=" + b0.addr
		b1.want(want)
		b2.want(want)
		c.want(b2.member(2, true).unregister(), "0") // not the smallest: nobody is told
		c.register(b0.member(0, true))
		b1.want("haBrokerAddr=ha:0 minBrokerAddr=" + b0.addr + " minBrokerId=0")
		b2.wantNone()
	})
	t.Run("X23_masterIsKilled", func(t *testing.T) {
		s := start(t, notifying)
		master, c := s.dial(), s.dial()
		b0, b1 := listenAsBroker(t), listenAsBroker(t)
		master.register(b0.member(0, true))
		c.register(b1.member(1, true))
		master.close()
		b1.want("minBrokerAddr=" + b1.addr + " minBrokerId=1 offlineBrokerAddr=" + b0.addr)
	})
	t.Run("X24_roleSwitchAlone", func(t *testing.T) {
		s := start(t, notifying)
		c := s.dial()
		b := listenAsBroker(t)
		c.register(b.member(1, true), b.member(0, true))
		b.want("haBrokerAddr=ha:0 minBrokerAddr=" + b.addr + " minBrokerId=0")
	})
	t.Run("X25_actingOff", func(t *testing.T) {
		s := start(t, notifying)
		c := s.dial()
		b0, b1 := listenAsBroker(t), listenAsBroker(t)
		want := "haBrokerAddr=ha:0 minBrokerAddr=" + b0.addr + " minBrokerId=0"
		c.register(b1.member(1, false), b0.member(0, false))
		first := b1.want(want)
		c.want(b0.member(0, false).unregister(), "0")
		c.register(b0.member(0, false))
		if second := b1.want(want); second != first+1 {
			t.Errorf("opaque %d after %d: something was sent in between", second, first)
		}
	})
	t.Run("off", func(t *testing.T) {
		s := start(t)
		c := s.dial()
		b0, b1 := listenAsBroker(t), listenAsBroker(t)
		c.register(b1.member(1, true), b0.member(0, true))
		c.want(configure("notifyMinBrokerIdChanged=true"), "0")
		c.want(b0.member(0, true).unregister(), "0")
		if opaque := b1.want("minBrokerAddr=" + b1.addr + " minBrokerId=1 offlineBrokerAddr=" + b0.addr); opaque != 1 {
			t.Errorf("opaque %d: something was sent before", opaque)
		}
	})
}

// A broker whose port takes no connection holds up neither the answer nor the others.
func TestNotifyUnreachableBroker(t *testing.T) {
	s := start(t, notifying)
	c := s.dial()
	b1 := listenAsBroker(t)
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := nobody.Addr().String()
	_ = nobody.Close()
	c.register(b1.member(1, true), b1.member(2, true).set("brokerAddr", addr), broker("a").set("brokerAddr", "a:0", "haServerAddr", "ha:0"))
	b1.want("haBrokerAddr=ha:0 minBrokerAddr=a:0 minBrokerId=0")
	c.wantRoute("Base", "a{0=a:0 1="+b1.addr+" 2="+addr+"} 4/4/6/0")
}
