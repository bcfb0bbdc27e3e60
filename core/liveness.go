package core

import (
	"math"
	"sync/atomic"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core/wheel"
)

// Bounds of a broker's heartbeat timeout in milliseconds. Apache takes any
// number, also one that expires at once or never.
const (
	DefaultTimeoutMillis = 120_000
	MinTimeoutMillis     = 1_000
	MaxTimeoutMillis     = 365 * 24 * 3600 * 1000

	nanosPerMilli = 1_000_000
)

// dead marks a cell whose broker was removed. No monotonic time is as small.
const dead = math.MinInt64

// unconfirmed marks the cell of a restored broker, which no sign of life revives: only its registration does, with a cell of its own.
const unconfirmed = dead + 1

// LiveCell is the liveness of one (cluster, address): the only thing in a
// snapshot that changes after publication.
//
// Concurrency contract
//
//	last   compare-and-swapped by event loops (Touch, Refresh) and by the writer (Touch,
//	       killOwnedBy, killSilent, killSince, shift); the one word on which a heartbeat and a removal for
//	       silence or for a connection's end meet. A removal that read an older value fails its
//	       swap and decides again, so a heartbeat that was acknowledged is never followed by
//	       one that missed it. dropLive stores dead outright: for a 104, a lost conflict and
//	       a move, which no heartbeat averts.
//	owner  stored by event loops and by the writer (Touch) before they swap last, set to 0 by the
//	       writer (orphan, an EndConnection with Keep); killOwnedBy reads it after it read last and before it swaps, so
//	       it sees the move.
//	suspicion  see there.
//	again  added to by event loops.
//	others belong to the writer.
type LiveCell struct {
	last  atomic.Int64  // monotonic nanoseconds of the last sign of life, or dead, or unconfirmed
	owner atomic.Uint64 // ConnID whose end removes the broker

	suspicion    suspicion
	timer        cellTimer
	key          string // of Snapshot.live
	timeoutNanos int64
	registeredBy ConnID       // Table.owned lists the cell under it
	again        atomic.Int64 // registrations recognised as the same again
	// A cell whose connection has ended is orphaned until this time (0: it isn't),
	// unless there is a sign of life after orphanedLast. An unconfirmed one is removed at it.
	orphanedUntil, orphanedLast int64
}

// Touch is a sign of life from conn at now (monotonic nanoseconds). It reports
// whether the broker is still known, and confirmed if it was restored, and whether its ownership moved to conn;
// whoever takes the ownership must hand the cell in with EndConnection.
func (c *LiveCell) Touch(conn ConnID, now int64) (alive, moved bool) {
	if c.last.Load() <= unconfirmed {
		return false, false
	}
	moved = c.owner.Swap(uint64(conn)) != uint64(conn)
	return c.Refresh(now), moved
}

// Refresh is a sign of life that leaves the ownership where it is: a
// registration that has arrived but isn't decoded yet.
func (c *LiveCell) Refresh(now int64) (alive bool) {
	for {
		last := c.last.Load()
		if last <= unconfirmed {
			return false
		}
		// Always a new value: a removal that read the old one must fail its swap.
		if c.last.CompareAndSwap(last, max(now, last+1)) {
			return true
		}
	}
}

// Recognised counts a registration that is the one known already. Any goroutine, right after Touch.
func (c *LiveCell) Recognised() { c.again.Add(1) }

// RecognisedCount is how many there were. Any goroutine.
func (c *LiveCell) RecognisedCount() int64 { return c.again.Load() }

// Last is the time of the last sign of life; ok is false once the broker was removed, and while it is restored and not confirmed.
func (c *LiveCell) Last() (nanos int64, ok bool) {
	last := c.last.Load()
	return last, last > unconfirmed
}

// Owner is the connection whose end removes the broker.
func (c *LiveCell) Owner() ConnID { return ConnID(c.owner.Load()) }

// killOwnedBy removes the broker's liveness if conn still owns it. Writer only.
func (c *LiveCell) killOwnedBy(conn ConnID) (last int64, killed bool) {
	for {
		last := c.last.Load()
		if last <= unconfirmed || ConnID(c.owner.Load()) != conn {
			return 0, false
		}
		if c.last.CompareAndSwap(last, dead) {
			return last, true
		}
	}
}

// orphan starts the grace of a broker whose connection ended, if conn still owns it. Writer only.
func (c *LiveCell) orphan(conn ConnID, until int64) bool {
	last := c.last.Load()
	if last <= unconfirmed || !c.owner.CompareAndSwap(uint64(conn), 0) {
		return false
	}
	c.orphanedUntil, c.orphanedLast = until, last
	return true
}

// deadline is when the broker is to be removed if it stays silent since last, and why. Writer only.
func (c *LiveCell) deadline(last int64) (nanos int64, why EventKind) {
	if last == unconfirmed {
		return c.orphanedUntil, EventUnconfirmed
	}
	silent := last + c.timeoutNanos
	if c.orphanedUntil != 0 && last == c.orphanedLast && c.orphanedUntil < silent {
		return c.orphanedUntil, EventClosed
	}
	if last == c.suspicion.last.Load() {
		return c.suspicion.until.Load(), EventExpired
	}
	return silent, EventExpired
}

// killSince removes the broker's liveness if there was no sign of life after since. Writer only.
func (c *LiveCell) killSince(since int64) (last int64, killed bool) {
	for {
		last := c.last.Load()
		if last <= unconfirmed || last > since {
			return 0, false
		}
		if c.last.CompareAndSwap(last, dead) {
			return last, true
		}
	}
}

// silence is a cell whose deadline has passed, since the sign of life that it had last.
type silence struct {
	cell *LiveCell
	last int64
}

// silent reports whether the cell's deadline has passed, or when it will. Writer only.
func (c *LiveCell) silent(now int64) (last int64, over bool, deadline int64) {
	last = c.last.Load()
	deadline, _ = c.deadline(last)
	return last, deadline < now, deadline
}

// killSilent removes the broker's liveness if its deadline has passed since last; otherwise it
// returns when that will next be so. Writer only.
func (c *LiveCell) killSilent(now int64) (last int64, killed bool, deadline int64, why EventKind) {
	for {
		last := c.last.Load()
		if last == dead {
			return 0, false, 0, 0
		}
		if deadline, why = c.deadline(last); deadline >= now {
			return last, false, deadline, why
		}
		if c.last.CompareAndSwap(last, dead) {
			return last, true, deadline, why
		}
	}
}

// shift moves the last sign of life by lateness, but not past now. Writer only.
func (c *LiveCell) shift(lateness, now int64) {
	for {
		last := c.last.Load()
		if last == unconfirmed {
			c.orphanedUntil += lateness
			return
		}
		if last == dead || last >= now {
			return
		}
		moved := min(last+lateness, now)
		if c.last.CompareAndSwap(last, moved) {
			if c.orphanedUntil != 0 && last == c.orphanedLast {
				c.orphanedLast = moved
				c.orphanedUntil += lateness
			}
			if last == c.suspicion.last.Load() {
				c.suspect(moved, c.suspicion.until.Load()+lateness)
			}
			return
		}
	}
}

// Live is what a broker last registered, under its cluster and address. It is immutable.
type Live struct {
	Cell          *LiveCell
	ClusterName   string
	BrokerName    string
	BrokerAddr    string
	BrokerID      int64
	HAServerAddr  codec.NullString
	DataVersion   codec.DataVersion
	FilterServers []string
	Memo          *RegisterMemo // nil: not to be recognised
	TimeoutNanos  int64
	// Provisional: the broker is known from an earlier process and hasn't registered since.
	Provisional bool
	Seen        int64 // its last sign of life then, on this process's clock; nanoseconds, may be negative

	// What is kept to be shown. Times are wall time, ms since the Unix epoch.
	From        Peer  // who sent this registration
	FirstMillis int64 // when the address first registered under this name
	WallMillis  int64 // when this registration came
	Applied     int64 // registrations applied since FirstMillis, this one counted
	Topics      int   // topics sent with this registration
	Claimed     bool  // RegisterBroker's

	// The group, by index and generation, and the settings that the registration was
	// applied to and left behind. As long as the snapshot holds the very same,
	// applying it again changes nothing.
	group      int
	generation uint64
	settings   *Settings
}

// Origin is the address that the registration comes from; "" if that isn't known for certain.
func (l *Live) Origin() string {
	if l.Claimed {
		return ""
	}
	return l.From.Addr
}

// RegisterMemo recognises a registration that came before: everything in it that
// matters is the same. Computed by the receiver of requests; the table only keeps it.
type RegisterMemo struct {
	Sum       uint64     // seeded hash of the header fields and of the body without Skip
	BodyBytes int        // length of the body
	Skip      codec.Span // the digits of mappingDataVersion.timestamp, new in each registration of a 5.x broker
}

// clampTimeout returns the timeout in nanoseconds and whether it had to be clamped.
func clampTimeout(c *RegisterBroker) (nanos int64, clamped bool) {
	millis := int64(DefaultTimeoutMillis)
	if c.HasTimeout {
		millis = min(max(c.TimeoutMillis, MinTimeoutMillis), MaxTimeoutMillis)
		clamped = millis != c.TimeoutMillis
	}
	return millis * nanosPerMilli, clamped
}

// appendLiveKey appends the key of a (cluster, address) pair. The length in
// front keeps two pairs apart whatever bytes they hold.
func appendLiveKey[S ~string | ~[]byte](dst []byte, cluster, addr S) []byte {
	n := uint32(len(cluster))
	dst = append(dst, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	dst = append(dst, cluster...)
	return append(dst, addr...)
}

func liveKey(cluster, addr string) string {
	return string(appendLiveKey(make([]byte, 0, 64), cluster, addr))
}

// cellTimer is the wheel's entry of a cell.
type cellTimer = wheel.Timer[*LiveCell]
