package fuzz

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/routesnapshot"
)

// FuzzRouteSnapshot: any body under a right header and trailer is read or refused; what was read is written as the same state
// again, and the table takes it and lets go of it.
func FuzzRouteSnapshot(f *testing.F) {
	for _, s := range []*core.State{{}, {
		Groups:   []core.StateGroup{{Index: 1, Name: "a", ClusterName: "c", Homes: []string{"c"}, Addrs: []core.Address{{Addr: "h:1"}, {BrokerID: 1, Addr: "h:2"}}}},
		Settings: []core.StateSetting{{Index: 2, ReadQueueNums: 4, WriteQueueNums: 4, Perm: 6}},
		Lists:    [][]core.StateQueue{{core.NewStateQueue(1, 2)}},
		Topics:   []core.StateTopic{{Name: "T"}, {Name: "U"}},
		Mappings: []core.StateMapping{{Topic: "T", BrokerName: "x", Registrant: "a", Info: [2]string{"{}", "{}"}}},
		Live: []core.StateLive{{ClusterName: "c", BrokerName: "a", BrokerAddr: "h:1", FilterServers: []string{"f"}, HAServerAddr: codec.NullString{Valid: true}},
			{ClusterName: "c", BrokerName: "a", BrokerAddr: "h:2"}},
	}} {
		var b bytes.Buffer
		if _, err := routesnapshot.Write(&b, s, 1); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes()[20 : b.Len()-12])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		data := binary.BigEndian.AppendUint32([]byte("WAYMARKR"), 1)
		data = append(binary.BigEndian.AppendUint64(data, 5), body...)
		data = binary.BigEndian.AppendUint64(data, uint64(len(data)))
		data = binary.BigEndian.AppendUint32(data, crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)))
		s, at, err := routesnapshot.Parse(data)
		if err != nil {
			return
		}
		var first, second bytes.Buffer
		_, _ = routesnapshot.Write(&first, s, at) // a buffer never fails
		again, _, err := routesnapshot.Parse(first.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if _, _ = routesnapshot.Write(&second, again, at); !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Fatalf("%x became %x", first.Bytes(), second.Bytes())
		}
		table, out := core.NewTable(core.DefaultSettings(), nil), core.Outcome{}
		table.Step(0, []core.Command{&core.Restore{State: s, UntilNanos: 1, MaxAgeNanos: 1 << 40}}, &out)
		table.Step(2, []core.Command{&core.Tick{}}, &out)
		if left := table.Load(); left.Brokers()+left.Topics() != 0 {
			t.Fatalf("%d brokers, %d topics are left", left.Brokers(), left.Topics())
		}
	})
}
