package namesrv

import (
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// brokerHeartbeat answers BROKER_HEARTBEAT (904): a sign of life.
//
// Request:  clusterName string required, brokerAddr string required; others unused; no body; mostly one-way.
// Response: 0, also for an unknown broker; 1 when a name is missing.
// Effects:  the broker's last sign of life is now, and its ownership moves to this connection. An unknown broker stays unknown.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
// Differs:  Apache leaves the ownership with the connection that registered.
//
// The same heartbeat again is answered by knownBeat.
func (l *loop) brokerHeartbeat(dst []byte) []byte {
	cluster, ok1 := l.cmd.Field("clusterName")
	addr, ok2 := l.cmd.Field("brokerAddr")
	if !ok1 || !ok2 {
		return l.fail(dst, codec.ResponseSystemError, remarkNullPrefix+"clusterName or brokerAddr is missing")
	}
	live, known := l.table.Load().Live(cluster, addr)
	switch {
	case !known || !l.touch(live.Cell):
		l.tally.unknownBeats++
	case l.beat:
		l.session.beat.cell = live.Cell
	}
	return l.succeed(dst, nil)
}

// touch is a sign of life on this connection. It is false for a broker that was removed meanwhile.
func (l *loop) touch(cell *core.LiveCell) (alive bool) {
	alive, moved := cell.Touch(l.session.id(), l.now)
	if alive && moved {
		l.session.took(cell)
		l.keepAlive(l.session)
	}
	return alive
}
