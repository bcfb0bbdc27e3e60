package conformance

import (
	"net"
	"time"
)

// Target is a nameserver under test, started for one recording.
type Target interface {
	Addr() string // host:port
	Close()
}

// Dialer is a Target that is connected to otherwise than by TCP alone. Its connections have CloseWrite.
type Dialer interface{ Dial() (net.Conn, error) }

// Clock is a Target whose time a test can move.
type Clock interface{ Advance(d time.Duration) }

// Options say how strictly a recording is played.
type Options struct {
	// Deviations change recorded answers to the ones Waymark gives on purpose.
	// nil: the recorded answers are expected, as from Apache's nameserver.
	Deviations Deviations
	// Immediate: the server acts before it answers. An answer may then settle only
	// after what is not answered: the end of a connection, a one-way request.
	// Apache unregisters in the background.
	Immediate bool
}

// settleWait bounds how long an answer may take to become the recorded one.
const settleWait = 2 * time.Second

// Difference is one answer that is not the recorded one.
type Difference struct {
	Where   string // file:line
	Request string
	Detail  string // what was wanted and what came
}

func (d Difference) String() string { return d.Where + ": " + d.Request + "\n " + d.Detail }
