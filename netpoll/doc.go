// Package netpoll turns sockets into frames and answers into socket writes. It knows how long a frame is (codec) and
// nothing of what is in it; the meaning comes from a Handler. It is the only package that knows gnet.
//
//	peer ── accept ── recognise, sniff (12 bytes: PROXY, TLS, frames) ── event loop ── cut whole frames ── LoopHandler.Frame
//	                                                                         │                                   │ appends
//	                                                                         └────── one write per read event ◀──┘
//	                                                                                 (and 256 KiB, and text that follows)
//
// A connection that begins with a TLS hello gets a tlsEnd between its socket and its loop once its handshake, on a goroutine,
// is over; what is said here holds for it too.
//
// # Concurrency contract
//
//	Owner:   a connection belongs to one event loop for life. Everything in a Conn that isn't an atomic, everything in
//	         a loop, and the LoopHandler with its scratch are touched on that loop's goroutine only.
//	Shared:  Conn.Send, SendBuffer, Resume, Close, ID, RemoteAddr and all methods of Server: any goroutine.
//	Memory:  a frame's bytes alias the loop's read buffer, or the memory in which a frame of several reads was assembled,
//	         and die when Frame returns (builds with the tag "invariants" overwrite them then). A frame of the second
//	         kind may be taken by the handler; its memory is then the taker's until LargeFrame.Free. Bytes given to
//	         Send are copied; a buffer given to SendBuffer belongs to this package; what was given to Follow is only read.
//	Order:   answers appended by Frame leave in the order of the frames; two Sends from one goroutine leave in their order;
//	         between both kinds there is no order. Open comes first, then frames, then Close, exactly once.
//	TLS:     see tlsEnd for who owns what of it, handshakes for what bounds it.
//	Blocks:  nothing here blocks a loop; nobody waits for a loop except the settler of handovers, Visit, Stats and Server.Close.
//
// # Rules of the engine underneath that shaped this package
//
// gnet ends its engine on an accept error, and anybody on the machine could connect to a listener that it owns: so the
// engine runs without one, and connections are accepted here and handed over. gnet can't pause reading and doesn't
// tell when an outbound buffer has drained: so a loop stops cutting frames instead, bounds what it holds, and looks
// again by timer. A failed write closes the connection inside the call: so the connection counts as gone after each
// write that might have failed. What a read event leaves is copied into a ring, and out of it again by a peek that reaches
// into the next read: so an incomplete frame of more than 16 KiB is moved into memory of its own, each byte once. Peek(0)
// and Discard(0) mean "everything": neither is ever called.
package netpoll
