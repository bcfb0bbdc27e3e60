package namesrv

import (
	"errors"
	"strconv"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// registerBroker takes REGISTER_BROKER (103): a broker's address and topics.
//
// Request:  brokerName, brokerAddr, clusterName string and brokerId long required; haServerAddr string,
// heartbeatTimeoutMillis long (ms, 120,000), enableActingMaster bool, compressed bool, bodyCrc32 int (0 unchecked),
// __ZONE_NAME string; body by version, see codec.ParseRegisterBody.
// Response: 0, masterAddr and haServerAddr for anybody but a live master, body the ORDER_TOPIC_CONFIG table;
// 1 "crc32 not match", "register broker failed" (one topic under an unknown id, or over 1,024 ids), a missing field, or a body that can't be
// decoded; 2 when too much waits. A registration lost to a greater stateVersion is answered 0.
// Versions: below 37 the old body; from 413 on static mappings in the deflated form.
// Effects:  see core.RegisterBroker. The answer follows the publish.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
// Differs:  missing names are refused and leave nothing; deflated bodies marked plain are taken.
//
// On the loop it is only recognised: the checksum, then a sign of life for the broker
// it names, then, if it is the same as what the table holds and nothing of this
// connection waits, the answer. Everything else goes through the lane.
func (l *loop) registerBroker(dst, frame []byte) []byte {
	if crc, _ := l.cmd.Int32("bodyCrc32"); crc != 0 && crc != codec.BodyCRC(l.cmd.Body) {
		l.rejected(l.session.conn, &l.cmd, rejectedChecksum, remarkCRC)
		return l.reply(dst, reply{code: codec.ResponseSystemError, remark: remarkCRC, fields: noFields}, nil)
	}
	settled := l.session.pending.Load() == 0 // read before the snapshot, which then has all that was finished
	snapshot := l.table.Load()
	cluster, _ := l.cmd.Field("clusterName")
	addr, _ := l.cmd.Field("brokerAddr")
	if live, known := snapshot.Live(cluster, addr); known {
		if settled && live.Memo != nil && snapshot.Current(live) && l.memoMatches(live.Memo) && l.touch(live.Cell) {
			return l.registeredAgain(dst, snapshot, live)
		}
		live.Cell.Refresh(l.now)
	}
	return l.later(dst, frame)
}

func (l *loop) registeredAgain(dst []byte, s *core.Snapshot, live *core.Live) []byte {
	l.unchanged.Add(1)
	live.Cell.Recognised()
	switch {
	case l.cmd.IsOneway():
		return dst
	case l.session.conn.LoopOverloaded() && len(s.OrderTable()) > largeAnswerBytes:
		return l.busy(dst)
	}
	r := core.Result{}
	r.MasterAddr, r.HAServerAddr = s.RegisterReply(live)
	return appendRegistered(dst, l.serializeType, l.cmd.Opaque, &r, s)
}

func appendRegistered(dst []byte, t codec.SerializeType, opaque int32, r *core.Result, s *core.Snapshot) []byte {
	if r.Refused {
		return appendReply(dst, t, opaque, reply{code: codec.ResponseSystemError, remark: remarkRefused, fields: noFields}, nil)
	}
	fields := noFields
	if r.HAServerAddr.Valid {
		fields = append(fields, codec.ExtField{Name: "haServerAddr", Value: r.HAServerAddr.S})
	}
	if r.MasterAddr.Valid {
		fields = append(fields, codec.ExtField{Name: "masterAddr", Value: r.MasterAddr.S})
	}
	return appendReply(dst, t, opaque, reply{fields: fields}, s.OrderTable())
}

// decodeRegisterBroker makes the command of a registration that isn't the same again. The writer gives its topics' room
// back once they are applied.
func (d *decoder) decodeRegisterBroker() (c change, no *reply) {
	room := d.rooms.Get().(*codec.RegisterRoom)
	done := func() {
		room.Clear()
		d.rooms.Put(room)
	}
	if c, no = d.decodeRegistration(room); no != nil {
		done()
		return change{}, no
	}
	c.then = done
	return c, nil
}

func (d *decoder) decodeRegistration(room *codec.RegisterRoom) (change, *reply) {
	now := d.wall().UnixMilli()
	body, err := codec.ParseRegisterBody(d.cmd.Body, &codec.RegisterBodyOptions{
		Version:          d.cmd.Version,
		Compressed:       boolField(&d.cmd, "compressed"),
		NowMillis:        now,
		Intern:           d.table.Load().InternTopic,
		Room:             room,
		MaxInflatedBytes: d.settings.Load().MaxInflatedBodyBytes,
	})
	if err != nil {
		return d.refuse(bodyRemark(err, d.cmd.Version))
	}
	id, ok := d.cmd.Int64("brokerId")
	if !ok {
		return d.refuse(remarkNullPrefix + "brokerId is missing")
	}
	for _, name := range []string{"brokerName", "brokerAddr", "clusterName"} {
		if _, ok := d.cmd.Field(name); !ok {
			return d.refuse(name + " is missing")
		}
	}
	c := &core.RegisterBroker{
		Conn:         d.session.id(),
		PeerAddr:     d.session.conn.RemoteAddr(),
		Claimed:      newPeer(d.session.conn, d.settings.Load().ProxyProtocolTrusted != "").claimed(),
		WallMillis:   now,
		ClusterName:  field(&d.cmd, "clusterName").S,
		BrokerName:   field(&d.cmd, "brokerName").S,
		BrokerAddr:   field(&d.cmd, "brokerAddr").S,
		HAServerAddr: field(&d.cmd, "haServerAddr"),
		BrokerID:     id,
		ActingMaster: actingMaster(&d.cmd),
		ZoneName:     field(&d.cmd, "__ZONE_NAME"),
		Body:         body,
	}
	c.TimeoutMillis, c.HasTimeout = d.cmd.Int64("heartbeatTimeoutMillis")
	if body.DataVersion.Timestamp != now { // else it may be a stand-in for a missing one, new each time
		c.Memo = newMemo(&d.cmd, body.MappingTimestamp)
	}
	if _, known := d.table.Load().Live([]byte(c.ClusterName), []byte(c.BrokerAddr)); !known {
		d.events.noteAddress(c, d.session.conn.RemoteAddr())
	}
	held := decodedBytes(body)
	if d.writeBytes.Load()+held > d.maxWriteBytes {
		return change{}, &busyReply
	}
	opaque, t := d.cmd.Opaque, d.serializeType
	return change{command: c, bytes: held, answer: func(dst []byte, r *core.Result, s *core.Snapshot) []byte {
		return appendRegistered(dst, t, opaque, r, s)
	}}, nil
}

// bodyRemark is the remark to a body that can't be decoded, beginning as Apache's does.
func bodyRemark(err error, version int32) string {
	switch {
	case errors.Is(err, codec.ErrNegativeVersion):
		return remarkIndexPrefix + strconv.Itoa(int(version)) + remarkIndexSuffix + err.Error()
	case errors.Is(err, codec.ErrNullBody):
		return remarkNullPrefix + err.Error()
	}
	return remarkBodyPrefix + err.Error()
}

// decodedBytes is about what a decoded body holds until it is applied: a deflated
// one is far more than its frame.
func decodedBytes(b *codec.RegisterBody) int64 {
	const perTopic, perMapping, perPair, perFilter = 64, 256, 8, 32
	n := perTopic*len(b.Topics) + perMapping*len(b.Mappings) + perFilter*len(b.FilterServers)
	for i := range b.Topics {
		n += len(b.Topics[i].Name)
	}
	for i := range b.Mappings {
		n += perPair * len(b.Mappings[i].CurrIDMap)
	}
	for _, f := range b.FilterServers {
		n += len(f)
	}
	return int64(n)
}

func boolField(c *codec.Command, name string) bool {
	v, _ := c.Bool(name)
	return v
}

func actingMaster(c *codec.Command) core.ActingMaster {
	v, ok := c.Bool("enableActingMaster")
	switch {
	case !ok:
		return core.ActingAbsent
	case v:
		return core.ActingTrue
	}
	return core.ActingFalse
}
