package routesnapshot

import (
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

const (
	magic   = "WAYMARKR"
	version = 1

	headerBytes  = len(magic) + 4 + 8
	trailerBytes = 8 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// chunk is how many bytes are put together for a write.
const chunk = 64 << 10

// Write writes a state to w, in pieces of about 64 KiB, and returns how many bytes it wrote. wallMillis is the time, ms since the
// Unix epoch.
func Write(w io.Writer, s *core.State, wallMillis int64) (bytes int64, err error) {
	e := &encoder{w: w, buf: make([]byte, 0, chunk+chunk/4)}
	e.buf = append(e.buf, magic...)
	e.buf = binary.BigEndian.AppendUint32(e.buf, version)
	e.buf = binary.BigEndian.AppendUint64(e.buf, uint64(wallMillis))
	list(e, s.Groups, (*encoder).group)
	list(e, s.Settings, (*encoder).setting)
	list(e, s.Lists, (*encoder).queues)
	list(e, s.Topics, (*encoder).topic)
	list(e, s.Mappings, (*encoder).mapping)
	list(e, s.Live, (*encoder).live)
	e.buf = binary.BigEndian.AppendUint64(e.buf, uint64(e.bytes)+uint64(len(e.buf)))
	e.flush()
	e.buf = binary.BigEndian.AppendUint32(e.buf, e.sum)
	e.flush()
	return e.bytes, e.err
}

// encoder collects bytes and hands them on. After an error it does nothing more.
type encoder struct {
	w     io.Writer
	buf   []byte
	bytes int64 // handed on
	sum   uint32
	err   error
}

func (e *encoder) flush() {
	if e.err == nil {
		e.sum = crc32.Update(e.sum, castagnoli, e.buf)
		e.bytes += int64(len(e.buf))
		_, e.err = e.w.Write(e.buf)
	}
	e.buf = e.buf[:0]
}

// list writes how many records there are, and the records.
func list[T any](e *encoder, records []T, record func(*encoder, *T)) {
	e.count(len(records))
	for i := range records {
		if e.err != nil {
			return
		}
		record(e, &records[i])
		if len(e.buf) >= chunk {
			e.flush()
		}
	}
}

func (e *encoder) count(n int)       { e.unsigned(uint64(n)) }
func (e *encoder) unsigned(n uint64) { e.buf = binary.AppendUvarint(e.buf, n) }
func (e *encoder) number(n int64)    { e.buf = binary.AppendVarint(e.buf, n) }

func (e *encoder) text(s string) {
	e.count(len(s))
	e.buf = append(e.buf, s...)
}

func (e *encoder) nullText(s codec.NullString) {
	if !s.Valid {
		e.count(0)
		return
	}
	e.count(len(s.S) + 1)
	e.buf = append(e.buf, s.S...)
}

func (e *encoder) flag(b bool) {
	n := byte(0)
	if b {
		n = 1
	}
	e.buf = append(e.buf, n)
}

func (e *encoder) textOf(s *string) { e.text(*s) }

func (e *encoder) group(g *core.StateGroup) {
	e.unsigned(uint64(g.Index))
	e.text(g.Name)
	e.text(g.ClusterName)
	list(e, g.Homes, (*encoder).textOf)
	e.nullText(g.ZoneName)
	e.flag(g.ActingMaster)
	list(e, g.Addrs, func(e *encoder, a *core.Address) {
		e.number(a.BrokerID)
		e.text(a.Addr)
	})
}

func (e *encoder) setting(s *core.StateSetting) {
	e.unsigned(uint64(s.Index))
	for _, n := range []int32{s.ReadQueueNums, s.WriteQueueNums, s.Perm, s.TopicSysFlag} {
		e.number(int64(n))
	}
}

func (e *encoder) queues(queues *[]core.StateQueue) {
	list(e, *queues, func(e *encoder, q *core.StateQueue) {
		group, setting := q.Indexes()
		e.unsigned(uint64(group))
		e.unsigned(uint64(setting))
	})
}

func (e *encoder) topic(t *core.StateTopic) {
	e.text(t.Name)
	e.unsigned(uint64(t.List))
}

func (e *encoder) mapping(m *core.StateMapping) {
	e.text(m.Topic)
	e.text(m.BrokerName)
	e.text(m.Registrant)
	e.number(m.Epoch)
	e.text(m.Info[0])
	e.text(m.Info[1])
}

func (e *encoder) live(l *core.StateLive) {
	e.text(l.ClusterName)
	e.text(l.BrokerName)
	e.text(l.BrokerAddr)
	e.number(l.BrokerID)
	e.nullText(l.HAServerAddr)
	e.number(l.DataVersion.StateVersion)
	e.number(l.DataVersion.Timestamp)
	e.number(l.DataVersion.Counter)
	e.flag(l.DataVersion.NullCounter)
	list(e, l.FilterServers, (*encoder).textOf)
	for _, n := range []int64{l.TimeoutNanos, l.AgeNanos, l.FirstMillis, l.WallMillis, l.Applied, int64(l.Topics)} {
		e.number(n)
	}
}
