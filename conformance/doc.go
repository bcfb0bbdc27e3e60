// Package conformance plays recorded traffic against a nameserver and says
// which answers differ from those that Apache NameServer 5.5.0 gave.
//
// Two kinds of recordings are in testdata: scenarios, made of requests written
// for the purpose (Step), and captures of frames between released peers and the
// nameserver (Line). Both are played over TCP from fresh connections; captures
// are completed by seeds, steps of the peers that they do not hold.
//
// The package shares no code with the server: it has a plain frame writer and
// reader of its own, so that no mistake can be made on both sides.
//
// Its tests play everything on our server in this process. To play on another
// one, name a command that runs it,
//
//	WAYMARK_CONFORMANCE_COMMAND='namesrv.sh' go test ./conformance
//
// (it is given a port, a folder for files and settings as key=value), or the
// address of one that already runs,
//
//	WAYMARK_CONFORMANCE_ADDR=127.0.0.1:9876 go test -run 'TestScenarios/default/scenario-001' ./conformance
//
// Then the recorded answers are expected as they are. On our server a few are
// expected to differ: see deviations.go.
//
// File map: scenario.go and capture.go (formats), frame.go and client.go (the
// peer's side of a connection), compare.go (when two answers are the same),
// exchange.go, play.go and replay.go (the players), notified.go (brokers that
// the nameserver calls), deviations.go, record.go.
package conformance
