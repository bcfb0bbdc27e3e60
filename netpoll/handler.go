package netpoll

// Handler makes the per-loop handlers. NewLoop is called once for each event loop, before the first connection.
type Handler interface {
	NewLoop() LoopHandler
}

// LoopHandler serves the connections of one event loop. All of its methods run on that loop, one at a time, so it may own
// scratch memory without locks; it must not block. A panic in it ends the connection it was called for, nothing else.
type LoopHandler interface {
	// Open is the first call for a connection. now is Options.Now's value for this event (monotonic nanoseconds).
	Open(c *Conn, now int64)

	// Frame handles one whole frame, its 4 length bytes included. frame is only valid until Frame returns, unless it was taken
	// (Conn.TakeFrame). Answers are appended to dst and the longer slice is returned; dst may hold answers to earlier frames
	// of the same read. The end of a large one may be sent from where it is (Conn.Follow). An error closes the connection
	// after everything answered so far, dst included, was written; it is the reason given to Close.
	Frame(c *Conn, dst, frame []byte, now int64) ([]byte, error)

	// Close is the last call for a connection, exactly one for each Open. reason says why it ended and is never nil.
	Close(c *Conn, reason error, now int64)
}

// Finisher is a LoopHandler that is told when a read event is over: Finished follows its frames, once their answers were
// written. It isn't called for an event without a whole frame, nor for one that a panic has ended.
type Finisher interface {
	Finished()
}
