package admin

import "github.com/prometheus/client_golang/prometheus"

// metric describes one family of METRICS.md.
type metric struct {
	name   string
	kind   kind
	unit   string // "" without
	help   string // one line, without a full stop at its end
	labels []label
	desc   *prometheus.Desc // made from the above
}

type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
)

// label is a label's name and the values it may have.
type label struct{ name, values string }

// divisors of nanoseconds.
const (
	perMicro  = 1e3
	perMilli  = 1e6
	perSecond = 1e9
)

// The names that begin with rocketmq_ mean what they mean elsewhere: rocketmq_rpc_latency is RIP-46's, with its labels and bounds
// (and finer ones below 1 ms), rocketmq_namesrv_* are rocketmq-rust 1.0.0's, with its units. Those that begin with waymark_
// are ours.
var (
	rpcLatency = define(histogram, "rocketmq_rpc_latency", "milliseconds",
		"Time from the read of a request to the write of its answer",
		label{"protocol_type", "`remoting`"}, label{"request_code", "Apache's name of the code in lower case, `other` for unknown codes"},
		label{"response_code", "Apache's name in lower case, `none` without an answer"}, label{"is_long_polling", "`false`"},
		label{"result", "`success`, `oneway`, `process_request_failed`"})
	routeLatency = define(histogram, "rocketmq_namesrv_route_request_latency", "milliseconds",
		"The same for route queries alone, whatever came of them")
	requestsByType = define(counter, "rocketmq_namesrv_requests_total", "",
		"Requests by what they are for",
		label{"request_type", "`route-read`, `broker-control`, `admin`"}, label{"result", "`success`, `rejected`, `error`"})
	routeRequests = define(counter, "rocketmq_namesrv_route_request_total", "", "Route queries")
	routeErrors   = define(counter, "rocketmq_namesrv_route_errors_total", "",
		"Route queries without a route",
		label{"result", "`not_found`, `rejected` (busy, not ready, going away), `internal`"})
	brokerRegistrations = define(counter, "rocketmq_namesrv_broker_registrations", "", "Registrations received, whatever came of them")
	registrationEvents  = define(counter, "rocketmq_namesrv_registration_events_total", "",
		"Registrations by what they changed",
		label{"result", "`changed`, `no-op`, `rejected` (by checksum, request, budget or access, refused by the table, or lost to a greater stateVersion)"})
	dirtyTopics = define(histogram, "rocketmq_namesrv_registration_dirty_topics", "topics",
		"Topics that a registration that wasn't the same again added, changed or took off")
	decodeLatency = define(histogram, "rocketmq_namesrv_registration_decode_latency", "microseconds",
		"Decoding of a registration that wasn't recognised")
	mutationLatency = define(histogram, "rocketmq_namesrv_mutation_latency", "microseconds",
		"Changes of the table: how long one waited for the writer, and how long a step held it",
		label{"stage", "`wait`, `hold`"})
	kvLatency = define(histogram, "rocketmq_namesrv_kv_persist_latency", "microseconds",
		"Writes of the KV file", label{"result", "`success`, `failed`"})
	kvBatch           = define(histogram, "rocketmq_namesrv_kv_batch_size", "requests", "KV requests in one write of the file")
	kvQueue           = define(gauge, "rocketmq_namesrv_kv_queue_depth", "requests", "KV and configuration requests that wait for the disk")
	activeBrokers     = define(gauge, "rocketmq_namesrv_active_brokers", "", "Live brokers: pairs of cluster and address")
	activeConnections = define(gauge, "rocketmq_namesrv_active_connections", "", "Open connections")
	connectionEvents  = define(counter, "rocketmq_namesrv_connection_events_total", "",
		"Connections that came and went", label{"event", "`admitted`, `rejected`, `closed`"})

	requests = define(counter, "waymark_requests_total", "",
		"Requests by code and what they were answered",
		label{"request_code", "as `rocketmq_rpc_latency`'s"}, label{"response_code", "likewise"}, label{"result", "likewise"})
	events = define(counter, "waymark_events_total", "",
		"What happened to brokers in the table", label{"kind", "`registered`, `changed`, `unchanged`, `refused`, `conflict`, `replaced`, `unregistered`, `closed`, `expired`, `moved`, `rejected` (before the table), …"})
	recognised = define(counter, "waymark_registrations_recognised_total", "",
		"Registrations answered without decoding because nothing had changed; they are no event")
	unknownBeats = define(counter, "waymark_heartbeats_unknown_total", "",
		"Heartbeats of brokers that aren't in the table; they are answered as all others, and the broker comes back with its next registration")
	topics       = define(gauge, "waymark_topics", "", "Topics that have a route")
	brokerSilent = define(gauge, "waymark_broker_silent_seconds", "seconds",
		"Time since a live broker's last sign of life; it is removed when that exceeds its timeout (120 s)",
		label{"cluster", "as registered, at most 200 bytes"}, label{"broker", "likewise"}, label{"id", "a number"}, label{"addr", "as registered, likewise"})
	probes = define(counter, "waymark_probes_total", "", "Probes of brokers (`probeIntervalMillis`, and on a peer's word)",
		label{"outcome", "`answered`, `refused` (the connection), `unanswered`, `impossible` (no such name, no network), `forbidden` (an address that `probeAllowList` doesn't allow)"})
	unanswering = define(gauge, "waymark_brokers_unanswering", "", "Brokers that have stopped to answer probes, and are suspect for it")
	suspects    = define(gauge, "waymark_brokers_suspect", "", "Silent brokers that `expiryGuardPercent` keeps in routes for a while")
	provisional = define(gauge, "waymark_brokers_provisional", "", "Brokers restored from the file of `routeSnapshotPath` that haven't registered since the start")
	routeWrites = define(counter, "waymark_route_snapshot_writes_total", "", "Writes of the file of `routeSnapshotPath`", label{"result", "`written`, `failed`"})
	routeBytes  = define(gauge, "waymark_route_snapshot_bytes", "bytes", "Size of that file as last written")
	routeAge    = define(gauge, "waymark_route_snapshot_age_seconds", "seconds", "Time since that file was last written, or since the start; 0 without the setting")
	snapshotAge = define(gauge, "waymark_snapshot_age_seconds", "seconds", "Time since the table last changed")
	laneWait    = define(histogram, "waymark_lane_wait_seconds", "seconds", "Time from the read of a write request to its turn to be decoded")
	stepSize    = define(histogram, "waymark_step_commands", "commands", "Commands that one step of the table applied")
	writeQueue  = define(gauge, "waymark_write_queue", "changes", "Changes that wait for the writer")
	writeBytes  = define(gauge, "waymark_write_bytes", "bytes", "Memory of write requests that wait; above the limit registrations are answered SYSTEM_BUSY")
	writeLimit  = define(gauge, "waymark_write_limit_bytes", "bytes", "That limit (`writeBudgetBytes`, or what follows from the memory limit)")
	listQueue   = define(gauge, "waymark_list_queue", "answers", "Large list answers that wait to be encoded")

	accessDenied = define(counter, "waymark_access_denied_total", "",
		"Requests that `adminAllowList`, `readOnly` or `brokerAllowList` was against",
		label{"group", "`admin`, REGISTER_TOPIC_IN_NAMESRV too; `broker`"}, label{"mode", "`enforce`: refused; `observe`: let through"})
	connectionsLimited = define(counter, "waymark_connections_limited_total", "", "Connections closed at once because of `maxNewConnectionsPerSecondPerAddress`")
	missesLimited      = define(counter, "waymark_misses_limited_total", "", "Route queries answered SYSTEM_BUSY because of `maxMissesPerSecondPerAddress`")
	auditRecords       = define(counter, "waymark_audit_records_total", "", "Lines of the audit file", label{"result", "`written`, `lost`: the disk was slow or full"})
	badOrderConfs      = define(counter, "waymark_order_configs_unreadable_total", "", "Order configurations that clients can't read: put, refused ones too, or in the KV file at the start")
	absentOrderBrokers = define(gauge, "waymark_order_configs_absent_brokers", "",
		"Order configurations that name a broker that isn't in the table, of the first 10,000 pairs of broker and queues")

	connections = define(gauge, "waymark_connections", "",
		"Open connections by what their first request said of its sender",
		label{"language", "Apache's names, `unknown`, `other`"}, label{"version", "such as `5.3.1`, the ordinal of versions before 4.0.0 and of unknown ones, `other`"})
	accepted    = define(counter, "waymark_connections_accepted_total", "", "Connections taken from the kernel")
	refused     = define(counter, "waymark_connections_refused_total", "", "Of these, closed at once because there were too many")
	failed      = define(counter, "waymark_connections_failed_total", "", "Failed accepts and handovers to event loops")
	closed      = define(counter, "waymark_connections_closed_total", "", "Connections that ended", label{"reason", "`peer`, `local`, `idle`, `bad_frame`, …: netpoll's kinds"})
	frames      = define(counter, "waymark_frames_total", "", "Whole frames received")
	writes      = define(counter, "waymark_writes_total", "", "Writes to sockets")
	bytesIn     = define(counter, "waymark_received_bytes_total", "bytes", "Bytes received")
	bytesOut    = define(counter, "waymark_sent_bytes_total", "bytes", "Bytes given to sockets")
	assembled   = define(counter, "waymark_assembled_bytes_total", "bytes", "Bytes copied to put large frames together")
	panics      = define(counter, "waymark_panics_total", "", "Faults in a request's handling, on the event loops or off them; most ended its connection")
	unsent      = define(gauge, "waymark_unsent_bytes", "bytes", "Answers that no socket has taken, the rest of a piece of 64 KiB counted as all of it; above the limit queries are answered SYSTEM_BUSY")
	unsentLimit = define(gauge, "waymark_unsent_limit_bytes", "bytes", "That limit (`outputBudgetBytes`, or what follows from the memory limit)")
	held        = define(gauge, "waymark_held_bytes", "bytes", "Input received and not handled yet, with the memory made for large frames")
	heldLimit   = define(gauge, "waymark_held_limit_bytes", "bytes", "Its limit (`inputBudgetBytes`, likewise), above which connections that hold much are closed")

	peerDivergence = define(gauge, "rocketmq_namesrv_peer_divergence", "seconds",
		"For how long another nameserver has held other brokers, topics or queues than this one, beyond the 45 s that a registration may take to come to all; 0 while it holds the same. Absent while it can't be compared",
		label{"peer", "its name"})
	peerMembers = define(gauge, "waymark_peers", "", "Other nameservers by what they say of themselves; absent without `peerListenAddress`, as all about them", label{"state", "`starting`, `ready`, `draining`, `leaving`, `gone`"})
	peerKV      = define(gauge, "waymark_peer_kv_differs", "", "1 if another nameserver's KV configuration is another now, else 0", label{"peer", "its name"})
	peerWords   = define(counter, "waymark_peer_words_total", "", "What nameservers told each other of brokers", label{"result",
		"`told`, `heard`, or dropped: `late` (a peer wasn't reached in time), `full` (too many waited), `flooded` (a peer said too much), `unsayable` (names too long), `untold` (too many brokers ended at once)"})
	peerMessages = define(counter, "waymark_peer_messages_dropped_total", "", "Messages of nameservers that were dropped", label{"reason",
		"`malformed`, `unreadable` (encrypted with another key, or not at all, or changed on the way), `unknown` (of a later version), `stranger` (not from a peer's present process to this one), `repeated`, `unanswered` (asks beyond the bound)"})
	peerRefused = define(counter, "waymark_peer_connections_refused_total", "", "Connections to `peerListenAddress` closed because too many were open")

	state        = define(gauge, "waymark_state", "", "1 for the state that the server is in", label{"state", "`starting`, `waiting`, `serving`, `draining`, `stopping`"})
	loops        = define(gauge, "waymark_loops", "", "Event loops")
	loopsMissing = define(gauge, "waymark_loops_missing", "",
		"Event loops that didn't tell their counters in time for this scrape: they count as last seen")
	tlsConnections = define(gauge, "waymark_tls_connections", "", "Open connections inside TLS")
	tlsHandshakes  = define(counter, "waymark_tls_handshakes_total", "", "TLS handshakes", label{"result", "`done`, `failed`, `refused`: too many at a time"})
	tlsReloads     = define(counter, "waymark_tls_reloads_total", "", "Changes of the certificate's files", label{"result", "`done`, `failed`: what was loaded stays"})
	tlsExpiry      = define(gauge, "waymark_tls_certificate_expiry_timestamp_seconds", "seconds", "When the TLS certificate expires, since 1970; absent without one")
	buildInfo      = define(gauge, "waymark_build_info", "", "1", label{"version", "of the module"}, label{"revision", "of the source"}, label{"goversion", "Go's"})
)

// table has every metric of ours, in the order of the above.
var table []*metric

func define(k kind, name, unit, help string, labels ...label) *metric {
	names := make([]string, len(labels))
	for i, l := range labels {
		names[i] = l.name
	}
	m := &metric{name: name, kind: k, unit: unit, help: help, labels: labels, desc: prometheus.NewDesc(name, help, names, nil)}
	table = append(table, m)
	return m
}
