// Package namesrv is what each request means: it takes frames from netpoll, answers
// reads from core's snapshot on the event loop, and passes writes through decoders, the
// persister and the writer.
//
//	Frame ─ parse ─ dispatch ─┬─ read lane, on the loop: 101 105 106 206 219 224 304 311–313 319 322 901 904 ─▶ answer
//	                          │     (list answers over 64 KiB: encoded and sent by the lists goroutine)
//	                          │     (103 too, if it is the same again)
//	                          └─ write lane: copied into the connection's lane (104: decoded first)
//	                                 │ decoders: one at a time for each connection
//	                                 ├─▶ persister: 100 102 318: file first
//	                                 └─▶ writer: 103 104 205 216 217 327, 322 behind writes of its connection, ends of connections: Step, publish, answer, effects
//
// One file holds one request code, named after it, or a few that differ in a word.
package namesrv
