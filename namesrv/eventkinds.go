package namesrv

import (
	"log/slog"

	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/audit"
)

// eventKind is how an event of the table is told.
type eventKind struct {
	name  string // in metrics and the API
	level slog.Level
	text  string
	other string      // what Event.Other is
	often bool        // may come with every registration: once a minute for each slot
	deed  bool        // an operator's: his deed is told (chronicle.go), which says who he is
	audit audit.Event // "": none, or the deed's
}

// eventKinds are the kinds by core's number.
var eventKinds = [core.EventKinds]eventKind{
	core.EventRegistered: {name: "registered", level: slog.LevelInfo, text: "broker registered", audit: audit.BrokerRegistered},
	core.EventChanged:    {name: "changed", level: slog.LevelInfo, text: "broker registered changes", audit: audit.BrokerChanged},
	core.EventUnchanged:  {name: "unchanged", level: slog.LevelDebug, text: "broker registered again"},
	core.EventRefused: {name: "refused", level: slog.LevelWarn, often: true,
		text: "registration refused: one topic under an unknown id, or too many ids"},
	core.EventConflict: {name: "conflict", level: slog.LevelWarn, other: "holder", often: true, audit: audit.BrokerLost,
		text: "registration lost: the slot is held with a greater stateVersion"},
	core.EventReplaced: {name: "replaced", level: slog.LevelWarn, other: "displaced", often: true, audit: audit.BrokerReplaced,
		text: "broker took the slot of another address"},
	core.EventUnregistered: {name: "unregistered", level: slog.LevelInfo, text: "broker unregistered", audit: audit.BrokerUnregistered},
	core.EventClosed:       {name: "closed", level: slog.LevelInfo, text: "broker removed: its connection ended", audit: audit.BrokerClosed},
	core.EventExpired:      {name: "expired", level: slog.LevelWarn, text: "broker removed: silent for longer than its timeout", audit: audit.BrokerExpired},
	core.EventMoved: {name: "moved", level: slog.LevelWarn, other: "former", often: true, audit: audit.BrokerMoved,
		text: "address registered under another broker name; the former lost it"},
	core.EventTwoClusters: {name: "two_clusters", level: slog.LevelWarn, other: "firstCluster", often: true,
		text: "broker name is known in another cluster: both share one entry"},
	core.EventTimeoutClamped:   {name: "timeout_clamped", level: slog.LevelWarn, often: true, text: "heartbeat timeout outside 1 s to 1 year was clamped"},
	core.EventDeadlinesShifted: {name: "deadlines_shifted", level: slog.LevelWarn, text: "process stood still: every deadline moves by the lateness"},
	core.EventPartsDelete: {name: "parts_delete", level: slog.LevelWarn, often: true,
		text: "registration of a known version took topics off: with deleteTopicWithBrokerRegistration each part of a split registration takes off those of the others"},
	core.EventExpiryHeld: {name: "expiry_held", level: slog.LevelWarn,
		text: "expiry held: too many brokers are silent at once while their connections are open"},
	core.EventExpiryGuardEnded: {name: "expiry_guard_ended", level: slog.LevelWarn, text: "expiry guard ended: no broker is suspect any more"},
	core.EventTopicDeleted:     {name: "topic_deleted", text: "topic deleted", deed: true},
	core.EventTopicRegistered:  {name: "topic_registered", text: "topic registered alone", deed: true},
	core.EventWriteWiped:       {name: "write_permission_wiped", text: "broker's topics take no messages any more", deed: true},
	core.EventWriteAdded:       {name: "write_permission_added", text: "broker's topics take messages again", deed: true},
	core.EventKVPut:            {name: "kv_put", text: "KV value set", deed: true},
	core.EventKVDeleted:        {name: "kv_deleted", text: "KV value deleted", deed: true},
	core.EventUnanswered: {name: "unanswered", level: slog.LevelWarn, audit: audit.BrokerUnanswered,
		text: "broker removed: it doesn't answer probes and is silent"},
	core.EventToldDead: {name: "told_dead", level: slog.LevelWarn, other: "saidBy", audit: audit.BrokerToldDead,
		text: "broker removed: another nameserver saw its end"},
	core.EventRestored: {name: "restored", level: slog.LevelInfo, text: "routes of an earlier process restored: provisional until their brokers register"},
	core.EventUnconfirmed: {name: "unconfirmed", level: slog.LevelWarn, audit: audit.BrokerUnconfirmed,
		text: "restored broker removed: it has not registered"},
	core.EventRefusedConnection: {name: "refused_connection", level: slog.LevelWarn, audit: audit.BrokerRefusedConnection,
		text: "restored broker removed: its address refuses connections"},
	core.EventTopicsUnconfirmed: {name: "topics_unconfirmed", level: slog.LevelInfo, audit: audit.TopicsUnconfirmed,
		text: "restored topics of a broker removed: no registration has brought them"},
	core.EventRestoreEnded: {name: "restore_ended", level: slog.LevelInfo, text: "restored routes are confirmed or gone"},
}
