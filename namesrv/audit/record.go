// Package audit writes down who changed what: one line of JSON for each change, in the order in which changes take effect.
package audit

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/waymark-mq/waymark/internal/excerpt"
)

// Event says what a record is about.
type Event string

const (
	// Changed: an operator's request was carried out. Before and After are the same if it changed nothing.
	Changed Event = "change"
	// Failed: an operator's request changed nothing, for the reason in Result and Remark.
	Failed Event = "failed"
	// Refused: a request was not carried out because of the access rule in By.
	Refused Event = "refused"
	// Observed: a request was let through though the access rule in By is against it. If it is an operator's, its own record follows.
	Observed Event = "observed"
	// What happened to a broker.
	BrokerRegistered        Event = "broker registered"
	BrokerChanged           Event = "broker changed"
	BrokerReplaced          Event = "broker replaced" // Other is the address that lost its place
	BrokerMoved             Event = "broker moved"    // Other is the broker name that lost the address; Before and After are that name's
	BrokerUnregistered      Event = "broker unregistered"
	BrokerClosed            Event = "broker closed"
	BrokerExpired           Event = "broker expired"
	BrokerLost              Event = "broker lost"               // its place, and its registration, to Other, an address with a greater stateVersion
	BrokerUnanswered        Event = "broker unanswered"         // removed after probes
	BrokerToldDead          Event = "broker told dead"          // Other is the nameserver whose word it was
	BrokerUnconfirmed       Event = "broker unconfirmed"        // restored from an earlier process's file; didn't register within the grace
	BrokerRefusedConnection Event = "broker refused connection" // restored; nobody listens at its address
	TopicsUnconfirmed       Event = "topics unconfirmed"        // restored; no registration of the broker name brought them within the grace
	// A drain, of which From is who wanted it and Remark how far it is or came.
	DrainBegun Event = "drain begun"
	DrainEnded Event = "drain ended"
	// Missing: so many lines could not be written here.
	Missing Event = "lines missing"
)

// Record is one line. Texts of peers are cut by Text.
type Record struct {
	Time  time.Time `json:"time"` // wall clock
	Event Event     `json:"event"`
	Code  int32     `json:"code,omitempty"` // of the request
	Name  string    `json:"name,omitempty"` // Apache's of the code
	Peer
	What *What `json:"what,omitempty"`
	// Before and After are what stood there and stands there now: a text, null where there is nothing, a list of queues, numbers of
	// topics by permission, or how a broker stood.
	Before  any    `json:"before,omitempty"`
	After   any    `json:"after,omitempty"`
	By      string `json:"by,omitempty"`     // setting of the access rule
	Result  *int32 `json:"result,omitempty"` // code of the answer
	Remark  string `json:"remark,omitempty"`
	Skipped int    `json:"notWritten,omitempty"` // records of this kind that were left out since the last
	Lines   int    `json:"lines,omitempty"`      // of Missing
}

// Peer is who sent a request.
type Peer struct {
	From     string `json:"from,omitempty"` // host:port, the one a PROXY header named if there was one; of a drain, also a signal
	Via      string `json:"via,omitempty"`  // other end of the socket, if that is another
	Conn     uint64 `json:"conn,omitempty"` // the server's number of the connection
	Language string `json:"language,omitempty"`
	Version  int32  `json:"version,omitempty"` // Apache's ordinal
}

// What names what a request is about, as far as it says.
type What struct {
	Namespace string `json:"namespace,omitempty"`
	Key       string `json:"key,omitempty"`
	Topic     string `json:"topic,omitempty"`
	Cluster   string `json:"cluster,omitempty"`
	Broker    string `json:"broker,omitempty"`
	BrokerID  string `json:"brokerId,omitempty"`
	Addr      string `json:"addr,omitempty"`
	Other     string `json:"other,omitempty"`
	Topics    int    `json:"topics,omitempty"`        // sent with a registration, or touched by a removal
	Changed   int    `json:"topicsChanged,omitempty"` // of these, or by the request; static mappings count too
	Gone      int    `json:"topicsGone,omitempty"`    // that no broker has any more
	Body      string `json:"body,omitempty"`
}

// Null stands for nothing where a value could be.
var Null = json.RawMessage("null")

// maxTextBytes bounds a text of a record.
const maxTextBytes = 1 << 10

// Text is a peer's text as records have it: cut, with its length told, if it is long. Of bytes it is a copy.
func Text[T string | []byte](s T) string { return Cut(s, maxTextBytes) }

// Cut is Text with another bound, in bytes.
func Cut[T string | []byte](s T, most int) string {
	if len(s) <= most {
		return string(s)
	}
	return fmt.Sprintf("%s (%d bytes)", excerpt.Of(s, most+len(excerpt.Mark)), len(s))
}

// line encodes a record.
func (r *Record) line() []byte {
	b, err := json.Marshal(r)
	if err != nil { // a value that has no JSON would be a mistake in this program
		b, _ = json.Marshal(&Record{Time: r.Time, Event: r.Event, Code: r.Code, Name: r.Name, Peer: r.Peer, Remark: err.Error()})
	}
	return append(b, '\n')
}
