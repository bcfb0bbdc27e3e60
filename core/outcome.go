package core

import "github.com/waymark-mq/waymark/codec"

// Outcome is what a step of the table leaves to do: one Result for each
// command, in order, and the effects, in order, to be performed after the
// snapshot is published.
type Outcome struct {
	Results []Result
	Effects []Effect
	Work    Work
}

// Work is what a step has changed and copied, counted: its cost follows these, not the size of the
// table or of the commands.
type Work struct {
	Topics int // times that a topic was given other queues or was removed
	Lists  int // lists of queues made; topics of the same queues share one
	Queues int // queues in the lists made
	Shards int // shards copied or begun of the maps of topics, mappings and live brokers; 3 × 256 at most
}

// Result answers one command. Commands that cannot fail leave it zero.
type Result struct {
	// Refused: a registration of one topic under an unknown id, or of one id too many for its name. Nothing has changed.
	Refused bool
	// Conflict: the registration lost against a live one of a greater stateVersion.
	Conflict bool
	// Count of topics that WipeWritePerm or AddWritePerm found, of brokers that Restore or DropRestored did.
	Count int
	// Reply to a RegisterBroker that was neither refused nor lost.
	MasterAddr, HAServerAddr codec.NullString
	// Removed: DeclareDead took the broker out.
	Removed bool
	// Known, Changed, DataVersion answer QueryDataVersion.
	Known, Changed bool
	DataVersion    codec.DataVersion
}

// Effect is something to do outside the table.
type Effect interface{ effect() }

// CloseConnection ends the connection of a broker that expired.
type CloseConnection struct{ Conn ConnID }

// NotifyMinBrokerID is NOTIFY_MIN_BROKER_ID_CHANGE (905) to each of Recipients.
type NotifyMinBrokerID struct {
	Recipients        []string
	MinBrokerID       int64
	MinBrokerAddr     string
	OfflineBrokerAddr codec.NullString
	HABrokerAddr      codec.NullString
}

// EventKind says what happened to a broker.
type EventKind uint8

const (
	EventRegistered        EventKind = iota // first registration of this cluster and address
	EventChanged                            // a known broker registered something new: a version, topics, or something of itself
	EventUnchanged                          // a known broker registered what was known
	EventRefused                            // one topic under an unknown id, or too many ids
	EventConflict                           // lost against a greater stateVersion
	EventReplaced                           // took the slot of another address (equal or greater stateVersion)
	EventUnregistered                       // by 104
	EventClosed                             // its connection ended
	EventExpired                            // silent for longer than its timeout
	EventMoved                              // the address registered under another broker name
	EventTwoClusters                        // the broker name is known in another cluster
	EventTimeoutClamped                     // asked for a timeout outside 1 s … 1 year
	EventPartsDelete                        // under a known DataVersion topics went and others came: parts of a split registration take off each other's
	EventDeadlinesShifted                   // a tick came late; Lateness says by how much
	EventExpiryHeld                         // Brokers of AllBrokers fell silent at once: they are suspect and stay for a while
	EventExpiryGuardEnded                   // none is suspect any more; Brokers were, of which Expired went when their time was over
	EventTopicDeleted                       // 216 took brokers off a topic
	EventTopicRegistered                    // 217 gave a topic brokers or other queues
	EventWriteWiped                         // 205 took the write permission off a broker name's topics
	EventWriteAdded                         // 327 set their permission to 6
	EventKVPut                              // 100 changed a value
	EventKVDeleted                          // 102 deleted one
	EventUnanswered                         // didn't answer probes from here, and was silent
	EventToldDead                           // another nameserver, Other, says so
	EventRestored                           // Brokers and Topics of an earlier process are served provisionally
	EventUnconfirmed                        // a restored broker didn't register within the grace
	EventRefusedConnection                  // a restored broker's address refuses connections
	EventTopicsUnconfirmed                  // no registration brought TopicsChanged restored topics of the broker name within the grace
	EventRestoreEnded                       // the grace is over: Brokers of AllBrokers have registered, and TopicsChanged queues that none of them has went

	numberOfEventKinds
)

// EventKinds is how many kinds there are.
const EventKinds = numberOfEventKinds

// Event is something that happened to the table.
type Event struct {
	Kind                                EventKind
	Command                             int // index in its step of the command that it comes of
	ClusterName, BrokerName, BrokerAddr string
	BrokerID                            int64
	// Conn and PeerAddr are the connection that asked for it, that ended, or that owned the broker that expired; PeerAddr is ""
	// if the table doesn't know it.
	Conn     ConnID
	PeerAddr string
	// Topics sent with a registration, and how many were added, changed or taken off by it; topics touched by a removal or a
	// permission, and how many changed; for 216 and 217, TopicsChanged counts the topic's brokers.
	Topics, TopicsChanged int
	// Other is the address that EventReplaced displaced or that won EventConflict, the name that
	// EventMoved left, the cluster that EventTwoClusters found, or whose word EventToldDead is.
	Other          string
	Topic          string // of 216 and 217
	Namespace, Key string // of 100 and 102
	// Edit is what it has changed in the table, of EventRegistered, EventChanged, EventReplaced (the name whose slot was taken), EventMoved
	// (the name that lost the address), EventConflict, EventTopicsUnconfirmed and removals; nil unless the table tells edits.
	Edit *BrokerEdit
	// Gone are topics that no broker has any more because of it, no more than maxGone.
	Gone []string
	// Of a removal: the last sign of life (monotonic nanoseconds, 0: none is known, as of a restored broker) and what was registered last; for
	// EventClosed, whether the other end ended the connection.
	Sign          int64
	Version       codec.DataVersion
	ByPeer        bool
	Origin        string // of a removal: PeerAddr of the last registration; "" if that is only Claimed
	LatenessNanos int64
	// Brokers, AllBrokers and Expired count slots (addresses of a broker name) for EventExpiryHeld and
	// EventExpiryGuardEnded, live brokers for EventRestored and EventRestoreEnded; these name no broker.
	Brokers, AllBrokers, Expired int
}

func (*CloseConnection) effect()   {}
func (*NotifyMinBrokerID) effect() {}
func (*Event) effect()             {}
