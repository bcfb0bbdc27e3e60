package fleet

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"github.com/waymark-mq/waymark/bench/phase"
	"github.com/waymark-mq/waymark/bench/topology"
	"github.com/waymark-mq/waymark/bench/wire"
	"github.com/waymark-mq/waymark/codec"
)

const answerLimit = 2 * time.Minute

// Ordinals of the releases that the two shapes are of, 4.9.7 and 5.5.0.
const (
	version4 = 407
	version5 = 513
)

// broker is one simulated broker, for one goroutine at a time.
type broker struct {
	*topology.Broker
	fleet   *Fleet
	index   int
	table   *table
	version version
	rng     *rand.Rand
	asked   uint64

	conn   net.Conn // nil: none
	stream wire.Stream
	read   []byte
	unread []byte // of read
}

// dial connects if the broker isn't connected.
func (b *broker) dial() error {
	if b.conn != nil {
		return nil
	}
	conn, err := net.DialTimeout("tcp", b.fleet.addr, answerLimit)
	if err != nil {
		return fmt.Errorf("fleet: %s: %w", b.Name, err)
	}
	b.conn, b.stream, b.unread = conn, wire.Stream{}, nil
	return nil
}

func (b *broker) hangUp() {
	if b.conn != nil {
		b.conn.Close()
		b.conn = nil
	}
}

// register sends the table and waits for the answer. A connection on which that fails is ended.
func (b *broker) register() (code int32, err error) {
	if err := b.dial(); err != nil {
		return 0, err
	}
	buffer := bodies.Get().(*[]byte)
	defer bodies.Put(buffer)
	*buffer = b.table.append((*buffer)[:0], b.version, time.Now().UnixMilli())
	a, err := b.call(b.registerHeader(*buffer), *buffer)
	if err != nil {
		b.hangUp()
		return 0, fmt.Errorf("fleet: %s registers: %w", b.Name, err)
	}
	return a.Code, nil
}

// registerHeader is the header for a body, with the fields that brokers of the release send.
func (b *broker) registerHeader(body []byte) *codec.Header {
	h := &codec.Header{Code: codec.RequestRegisterBroker, Version: version4, ExtFields: []codec.ExtField{
		{Name: "brokerId", Value: "0"},
		{Name: "bodyCrc32", Value: strconv.Itoa(int(codec.BodyCRC(body)))},
		{Name: "clusterName", Value: b.Cluster},
		{Name: "brokerAddr", Value: b.Addr},
		{Name: "haServerAddr", Value: b.HAAddr},
		{Name: "compressed", Value: "false"},
		{Name: "brokerName", Value: b.Name},
	}}
	if b.fleet.load.Fleet.Release == 5 {
		h.Version = version5
		h.ExtFields = append(h.ExtFields, codec.ExtField{Name: "enableActingMaster", Value: "false"})
	}
	return h
}

// advance moves the table on as the profile says.
func (b *broker) advance() {
	f := &b.fleet.load.Fleet
	if f.Changed > 0 || f.NewVersion {
		b.version.advanced++
		b.version.changed += min(f.Changed, len(b.Topics.Indexes))
	}
}

// beat sends a heartbeat, one-way as brokers do. Without a connection it does nothing.
func (b *broker) beat() error {
	if b.conn == nil {
		return nil
	}
	h := &codec.Header{Code: codec.RequestBrokerHeartbeat, Flag: codec.FlagOneway, Version: version5, ExtFields: []codec.ExtField{
		{Name: "clusterName", Value: b.Cluster}, {Name: "brokerAddr", Value: b.Addr}, {Name: "brokerName", Value: b.Name},
	}}
	if err := b.write(h, nil); err != nil {
		b.hangUp()
		return fmt.Errorf("fleet: %s sends a heartbeat: %w", b.Name, err)
	}
	return nil
}

func (b *broker) write(h *codec.Header, body []byte) error {
	h.Opaque = wire.Opaque(b.asked)
	b.asked++
	head := codec.AppendFrameStart(nil, codec.SerializeJSON, h)
	binary.BigEndian.PutUint32(head, uint32(len(head)-4+len(body)))
	if err := b.conn.SetDeadline(time.Now().Add(answerLimit)); err != nil {
		return err
	}
	frame := net.Buffers{head, body}
	_, err := frame.WriteTo(b.conn)
	return err
}

func (b *broker) call(h *codec.Header, body []byte) (wire.Answer, error) {
	if err := b.write(h, body); err != nil {
		return wire.Answer{}, err
	}
	for {
		a, rest, ok, err := b.stream.Next(b.unread)
		if err != nil {
			return a, err
		}
		if ok {
			b.unread = rest
			return a, nil
		}
		if b.read == nil {
			b.read = make([]byte, 4<<10)
		}
		n, err := b.conn.Read(b.read)
		if n == 0 && err == nil {
			err = io.ErrNoProgress
		}
		if n == 0 {
			return a, err
		}
		b.unread = b.read[:n]
	}
}

// life is what the broker does from the first phase to the end.
func (b *broker) life(p phase.Phases) {
	b.fleet.times(b.index, b.rng, p).each(func(what action, due int64) (through int64) {
		began := phase.Now()
		phase.SleepUntil(due)
		if began < due {
			due = phase.Now() // it was idle: that the sleep was too long is not the server's delay
		}
		switch what {
		case beats:
			b.fleet.note(b.beat())
			b.fleet.beats.Add(1)
		case registers:
			b.advance()
			b.registerAndRecord(&b.fleet.registrations, p, due)
		case dies:
			b.hangUp()
			b.fleet.deaths.Add(1)
		case comesBack:
			b.registerAndRecord(&b.fleet.comebacks, p, due)
		}
		return phase.Now()
	})
}

func (b *broker) registerAndRecord(r *record, p phase.Phases, due int64) {
	code, err := b.register()
	b.fleet.note(err)
	if err == nil {
		b.fleet.acknowledged.Add(1)
	}
	if due >= p.Measured && err == nil {
		r.add(phase.Now()-due, code)
	}
}
