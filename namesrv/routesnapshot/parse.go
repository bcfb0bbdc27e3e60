package routesnapshot

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
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
	d := &decoder{rest: data[headerBytes:end]}
	s = &core.State{
		Groups:   read(d, (*decoder).group),
		Settings: read(d, (*decoder).setting),
		Lists:    read(d, (*decoder).queues),
		Topics:   read(d, (*decoder).topic),
		Mappings: read(d, (*decoder).mapping),
		Live:     read(d, (*decoder).live),
	}
	if d.bad || len(d.rest) > 0 {
		return nil, 0, errBody
	}
	return s, int64(binary.BigEndian.Uint64(data[len(magic)+4:])), nil
}

// decoder takes values off the front of a body. Once something made no sense, all that follows is zero.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) fail() {
	d.rest, d.bad = nil, true
}

// read takes a count and so many records. Room is made for those that are there, not for those that are promised.
func read[T any](d *decoder, record func(*decoder) T) []T {
	n := d.unsigned()
	if n > uint64(len(d.rest)) {
		d.fail()
		return nil
	}
	const few = 1024
	records := make([]T, 0, min(n, few))
	for range n {
		if d.bad {
			return nil
		}
		records = append(records, record(d))
	}
	return records
}

func (d *decoder) unsigned() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) index() uint32 {
	n := d.unsigned()
	if n > 1<<32-1 {
		d.fail()
	}
	return uint32(n)
}

func (d *decoder) number() int64 {
	n, size := binary.Varint(d.rest)
	if size <= 0 {
		d.fail()
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

func (d *decoder) number32() int32 {
	n := d.number()
	if int64(int32(n)) != n {
		d.fail()
	}
	return int32(n)
}

func (d *decoder) text() string { return d.bytes(d.unsigned()) }

// bytes takes n bytes as a text of its own.
func (d *decoder) bytes(n uint64) string {
	if n > uint64(len(d.rest)) {
		d.fail()
		return ""
	}
	s := string(d.rest[:n])
	d.rest = d.rest[n:]
	return s
}

func (d *decoder) nullText() codec.NullString {
	n := d.unsigned()
	if n == 0 {
		return codec.NullString{}
	}
	return codec.NullString{S: d.bytes(n - 1), Valid: true}
}

func (d *decoder) flag() bool {
	n := d.unsigned()
	if n > 1 {
		d.fail()
	}
	return n == 1
}

func (d *decoder) group() core.StateGroup {
	return core.StateGroup{
		Index: d.index(), Name: d.text(), ClusterName: d.text(), Homes: read(d, (*decoder).text), ZoneName: d.nullText(), ActingMaster: d.flag(),
		Addrs: read(d, func(d *decoder) core.Address { return core.Address{BrokerID: d.number(), Addr: d.text()} }),
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
		Topic: d.text(), BrokerName: d.text(), Registrant: d.text(), Epoch: d.number(), Info: [2]string{d.text(), d.text()},
	}
}

func (d *decoder) live() core.StateLive {
	return core.StateLive{
		ClusterName: d.text(), BrokerName: d.text(), BrokerAddr: d.text(), BrokerID: d.number(), HAServerAddr: d.nullText(),
		DataVersion:   codec.DataVersion{StateVersion: d.number(), Timestamp: d.number(), Counter: d.number(), NullCounter: d.flag()},
		FilterServers: read(d, (*decoder).text),
		TimeoutNanos:  d.number(), AgeNanos: d.number(), FirstMillis: d.number(), WallMillis: d.number(), Applied: d.number(), Topics: int(d.number()),
	}
}
