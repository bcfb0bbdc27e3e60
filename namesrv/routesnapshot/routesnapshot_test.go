package routesnapshot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// full is a state that has something of everything.
func full() *core.State {
	return &core.State{
		Groups: []core.StateGroup{
			{Index: 3, Name: "a\x00\xff", ClusterName: "c", Homes: []string{"c", ""}, ZoneName: codec.NullString{Valid: true}, ActingMaster: true,
				Addrs: []core.Address{{BrokerID: -1, Addr: "h:1"}, {BrokerID: 1 << 62, Addr: ""}}},
			{Name: "b", Homes: []string{}, Addrs: []core.Address{}},
		},
		Settings: []core.StateSetting{{Index: 1<<32 - 1, ReadQueueNums: -1 << 31, WriteQueueNums: 1<<31 - 1, Perm: 6, TopicSysFlag: -1}},
		Lists:    [][]core.StateQueue{{core.NewStateQueue(3, 1<<32-1), core.NewStateQueue(0, 0)}, {}},
		Topics:   []core.StateTopic{{Name: strings.Repeat("主题", chunk), List: 0}, {Name: "", List: 7}},
		Mappings: []core.StateMapping{{Topic: "T", BrokerName: "a", Registrant: "b", Epoch: -5, Info: [2]string{"{}", "{0:1}"}}},
		Live: []core.StateLive{{
			ClusterName: "c", BrokerName: "a", BrokerAddr: "h:1", BrokerID: -1, HAServerAddr: codec.NullString{S: "ha", Valid: true},
			DataVersion:   codec.DataVersion{StateVersion: 1, Timestamp: -2, Counter: 3, NullCounter: true},
			FilterServers: []string{"f", ""}, TimeoutNanos: 1, AgeNanos: 2, FirstMillis: 3, WallMillis: 4, Applied: 5, Topics: 6,
		}},
	}
}

func written(t *testing.T, s *core.State) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := Write(&b, s, -7)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("%d of %d bytes, %v", n, b.Len(), err)
	}
	return b.Bytes()
}

func TestReadsWhatItWrote(t *testing.T) {
	want := full()
	got, at, err := Parse(written(t, want))
	if err != nil || at != -7 || !reflect.DeepEqual(got, want) {
		t.Errorf("%v at %d, %v", got, at, err)
	}
}

// TestCutAtEveryByte: a file that lost its end, or that had a bit of it changed, is never taken for a whole one.
func TestCutAtEveryByte(t *testing.T) {
	s := full()
	s.Topics[0].Name = "T"
	data := written(t, s)
	for n := range data {
		if _, _, err := Parse(data[:n]); err == nil {
			t.Fatalf("%d of %d bytes were taken", n, len(data))
		}
		data[n] ^= 0x10
		if _, _, err := Parse(data); err == nil {
			t.Fatalf("a change of byte %d was not seen", n)
		}
		data[n] ^= 0x10
	}
	if _, _, err := Parse(append(data, 0)); err == nil {
		t.Error("a byte more was taken")
	}
	if _, _, err := Parse(data); err != nil {
		t.Error(err)
	}
}

// sealed is a file of a body that Write wouldn't write.
func sealed(version uint32, body []byte) []byte {
	data := binary.BigEndian.AppendUint32([]byte(magic), version)
	data = append(binary.BigEndian.AppendUint64(data, 0), body...)
	data = binary.BigEndian.AppendUint64(data, uint64(len(data)))
	return binary.BigEndian.AppendUint32(data, crc32.Checksum(data, castagnoli))
}

func TestRefusals(t *testing.T) {
	huge := binary.AppendUvarint(nil, 1<<62)
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, errForeign.Error()},
		{"another file", []byte(strings.Repeat("x", 100)), errForeign.Error()},
		{"a later version", sealed(2, make([]byte, 6)), "version 2"},
		{"no lists", sealed(1, nil), errBody.Error()},
		{"something behind", sealed(1, make([]byte, 7)), errBody.Error()},
		{"more groups than memory", sealed(1, append(huge, make([]byte, 6)...)), errBody.Error()},
		{"a longer name than the file", sealed(1, append([]byte{1, 0}, huge...)), errBody.Error()},
		{"an index beyond 32 bits", sealed(1, append(append([]byte{0, 1}, huge...), make([]byte, 9)...)), errBody.Error()},
		{"a permission beyond 32 bits", sealed(1, append(append([]byte{0, 1, 0}, huge...), make([]byte, 9)...)), errBody.Error()},
		{"a flag of 2", sealed(1, []byte{1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0}), errBody.Error()},
	} {
		if s, _, err := Parse(tt.data); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, %v; want %q", tt.name, s, err, tt.want)
		}
	}
	if _, _, err := Parse(sealed(1, make([]byte, 6))); err != nil {
		t.Errorf("an empty state: %v", err)
	}
}

// failing fails once it has taken some bytes.
type failing struct{ left int }

func (w *failing) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

func TestWriteStopsAtAnError(t *testing.T) {
	s := &core.State{}
	for i := range 10_000 {
		s.Topics = append(s.Topics, core.StateTopic{Name: fmt.Sprint("a topic of a longer name ", i)})
	}
	if _, err := Write(&failing{chunk * 2}, s, 0); err == nil {
		t.Error("no error")
	}
}
