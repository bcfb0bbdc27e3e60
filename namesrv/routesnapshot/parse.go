package routesnapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/binread"
)

var (
	errForeign  = errors.New("routesnapshot: not a file of routes")
	errCut      = errors.New("routesnapshot: the file is cut, or has more at its end")
	errChecksum = errors.New("routesnapshot: the checksum is wrong")
	errBody     = errors.New("routesnapshot: the content makes no sense")
)

// Parse reads what Write wrote: the state, and when it was written (ms since the Unix epoch). The state owns its memory, which
// the file's size bounds, whatever counts it names.
func Parse(data []byte) (s *core.State, wallMillis int64, err error) {
	if len(data) < headerBytes || string(data[:len(magic)]) != magic {
		return nil, 0, errForeign
	}
	if v := binary.BigEndian.Uint32(data[len(magic):]); v != version {
		return nil, 0, fmt.Errorf("routesnapshot: version %d, this is %d", v, version)
	}
	end := len(data) - trailerBytes
	if end < headerBytes || binary.BigEndian.Uint64(data[end:]) != uint64(end) {
		return nil, 0, errCut
	}
	if crc32.Checksum(data[:end+8], castagnoli) != binary.BigEndian.Uint32(data[end+8:]) {
		return nil, 0, errChecksum
	}
	d := &decoder{binread.New(data[headerBytes:end])}
	s = &core.State{
		Groups:   read(d, (*decoder).group),
		Settings: read(d, (*decoder).setting),
		Lists:    read(d, (*decoder).queues),
		Topics:   read(d, (*decoder).topic),
		Mappings: read(d, (*decoder).mapping),
		Live:     read(d, (*decoder).live),
	}
	if d.Err() != nil || d.Len() > 0 {
		return nil, 0, errBody
	}
	return s, int64(binary.BigEndian.Uint64(data[len(magic)+4:])), nil
}

// decoder takes a body apart.
type decoder struct{ binread.Reader }

// read takes a count and so many records. Room is made for those that are there, not for those that are promised.
func read[T any](d *decoder, record func(*decoder) T) []T {
	n := d.Count(1)
	const few = 1024
	records := make([]T, 0, min(n, few))
	for range n {
		if d.Err() != nil {
			return nil
		}
		records = append(records, record(d))
	}
	return records
}

func (d *decoder) index() uint32 {
	n := d.Uvarint()
	if n > 1<<32-1 {
		d.Fail(binread.ErrNumber)
	}
	return uint32(n)
}

func (d *decoder) number32() int32 {
	n := d.Varint()
	if int64(int32(n)) != n {
		d.Fail(binread.ErrNumber)
	}
	return int32(n)
}

func (d *decoder) text() string { return d.Text(math.MaxUint64) }

func (d *decoder) nullText() codec.NullString {
	n := d.Uvarint()
	if n == 0 {
		return codec.NullString{}
	}
	return codec.NullString{S: d.Bytes(n - 1), Valid: true}
}

func (d *decoder) flag() bool {
	n := d.Uvarint()
	if n > 1 {
		d.Fail(binread.ErrNumber)
	}
	return n == 1
}

func (d *decoder) group() core.StateGroup {
	return core.StateGroup{
		Index: d.index(), Name: d.text(), ClusterName: d.text(), Homes: read(d, (*decoder).text), ZoneName: d.nullText(), ActingMaster: d.flag(),
		Addrs: read(d, func(d *decoder) core.Address { return core.Address{BrokerID: d.Varint(), Addr: d.text()} }),
	}
}

func (d *decoder) setting() core.StateSetting {
	return core.StateSetting{
		Index: d.index(), ReadQueueNums: d.number32(), WriteQueueNums: d.number32(), Perm: d.number32(), TopicSysFlag: d.number32(),
	}
}

func (d *decoder) queues() []core.StateQueue {
	return read(d, func(d *decoder) core.StateQueue { return core.NewStateQueue(d.index(), d.index()) })
}

func (d *decoder) topic() core.StateTopic { return core.StateTopic{Name: d.text(), List: d.index()} }

func (d *decoder) mapping() core.StateMapping {
	return core.StateMapping{
		Topic: d.text(), BrokerName: d.text(), Registrant: d.text(), Epoch: d.Varint(), Info: [2]string{d.text(), d.text()},
	}
}

func (d *decoder) live() core.StateLive {
	return core.StateLive{
		ClusterName: d.text(), BrokerName: d.text(), BrokerAddr: d.text(), BrokerID: d.Varint(), HAServerAddr: d.nullText(),
		DataVersion:   codec.DataVersion{StateVersion: d.Varint(), Timestamp: d.Varint(), Counter: d.Varint(), NullCounter: d.flag()},
		FilterServers: read(d, (*decoder).text),
		TimeoutNanos:  d.Varint(), AgeNanos: d.Varint(), FirstMillis: d.Varint(), WallMillis: d.Varint(), Applied: d.Varint(), Topics: int(d.Varint()),
	}
}
