package namesrv

import (
	"time"

	"github.com/waymark-mq/waymark/namesrv/settings"
)

// State is where a server is in its life. It only ever moves on, but between Waiting and Serving.
type State uint32

const (
	Starting State = iota // not listening yet
	Waiting               // listening, but route queries are held back (needWaitForService) or no broker is there (notReadyWithoutBrokers)
	Serving
	Draining // still answering; peers are to go elsewhere
	Stopping // connections end, or have ended
)

var stateNames = [...]string{"starting", "waiting", "serving", "draining", "stopping"}

func (s State) String() string { return stateNames[s] }

// State tells where the server is. Any goroutine.
func (s *Server) State() State {
	state := State(s.state.Load())
	if state == Serving && (s.waits(s.settings.Load(), s.clock.Now()) || s.emptied()) {
		return Waiting
	}
	return state
}

// moveTo moves the server on; false if it is there already, or beyond. Any goroutine.
func (s *Server) moveTo(next State) bool {
	for {
		now := s.state.Load()
		if now >= uint32(next) {
			return false
		}
		if s.state.CompareAndSwap(now, uint32(next)) {
			return true
		}
	}
}

// waits reports whether route queries are held back at now (Clock's time): an empty table's "no such topic" would be taken for a
// fact. One that was restored isn't empty. UPDATE_NAMESRV_CONFIG can end the wait or shorten it; it can't begin or lengthen it, since that
// would take a server that serves out of service.
func (s *Server) waits(c *settings.Settings, now int64) bool {
	if !c.NeedWaitForService || s.warm && s.table.Load().Brokers() > 0 {
		return false
	}
	began := s.startedWith.Load()
	seconds := min(c.WaitSecondsForService, began.WaitSecondsForService)
	return began.NeedWaitForService && now-s.started < int64(seconds)*int64(time.Second)
}

// unsure reports whether a topic that isn't known here may well be known elsewhere, so that "no such topic" must not be said: the
// server drains or stops, or has no broker at all (notReadyWithoutBrokers).
func (s *Server) unsure() bool { return State(s.state.Load()) >= Draining || s.emptied() }

// emptied reports whether there is no broker, if that is to count.
func (s *Server) emptied() bool {
	return s.settings.Load().NotReadyWithoutBrokers && s.table.Load().Brokers() == 0
}
