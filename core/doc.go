// Package core is the routing core: which brokers there are, which topics they
// have, and what a client is told of them. It is pure: no socket, no file, no
// goroutine, no clock; time is an argument in monotonic nanoseconds.
//
//	readers (any goroutine)                      writer (one goroutine)
//	Table.Load() ── *Snapshot ◀── publish ────── Table.Step(now, commands) → results, effects
//	   │                │                            │
//	   │                └─ topics, brokers, live,    ├─ drafts of this batch: copied where changed
//	   │                   KV, settings: immutable   └─ private indexes: topics by broker,
//	   └─ LiveCell: heartbeats (atomic) ◀──────────── cells by connection, timing wheel
//
// A topic has a list of queues, which it shares with all topics of the same: words
// without pointers (queue), index of the broker group and of an interned queue setting,
// by broker name. Groups and settings carry the text that answers say of them, and
// the topics of a list have the text of their answers in common.
//
// File map
//
//	table.go          Table, Step, publish       command.go         what the writer can be asked
//	snapshot.go       Snapshot and look-ups      outcome.go         what it answers
//	route.go          105                        apply_register.go  103
//	routetext.go      text that topics share     routeextras.go     order config, static mappings
//	route_special.go  105, the rarer forms       apply_remove.go    104, end of connection, expiry
//	lists.go          206, 224, 311–313          apply_topic.go     216, 217, 205, 327
//	lists_brokers.go  106, 304                   apply_mapping.go   static mappings
//	membergroup.go    901                        apply_kv.go        100, 102
//	group.go          broker groups              apply_query.go     322 that waited for its turn
//	brokers.go        table of groups            notify.go          905
//	brokerdraft.go    groups of a batch          deephash.go        hash of a snapshot, tagged invariants
//	queue.go          queues and settings        report.go          events for the log
//	queuelist.go      lists that topics share    topicindex.go      topics by number
//	pending.go        changes of lists that wait    arrival.go         topics of a registration
//	expiryguard.go    expiries that come in a mass
//	mapping.go        static mappings            check_on.go        proofs, in builds tagged invariants
//	kv.go             KV configuration           fold.go            zone names
//	orderconf.go      its order configurations   edit.go            what 216, 217, 205, 327 changed
//	                                             brokeredit.go      what an event of a broker changed
//	liveness.go       LiveCell, Live             state.go           what Export writes and Restore reads
//	apply_restore.go  what an earlier process knew
package core
