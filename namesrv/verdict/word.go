package verdict

import "github.com/waymark-mq/waymark/codec"

// Broker names one address of a broker as it registered.
type Broker struct {
	ClusterName, BrokerName, BrokerAddr string
	BrokerID                            int64
}

// Kind says what a nameserver tells the others about a broker.
type Kind uint8

const (
	Unregistered Kind = iota + 1 // it said goodbye (104)
	Expired                      // it was silent for its whole timeout
	Closed                       // its connection ended, and not by the sender's doing
	Refused                      // its address refused a connection, twice
	Unanswered                   // it was removed there: silent, and no probe was answered
	Suspect                      // probes fail; it is still in the sender's routes
	Alive                        // the answer to Suspect, Refused, Closed or Doubt: it has shown life since
	Doubt                        // a probe has failed: a question, which speaks against nobody
)

var kindNames = [...]string{
	Unregistered: "unregistered", Expired: "expired", Closed: "closed", Refused: "refused",
	Unanswered: "unanswered", Suspect: "suspect", Alive: "alive", Doubt: "doubt",
}

// String is the kind's name on the wire, in logs and metrics; "" for one that there isn't.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return ""
}

// ParseKind returns the kind of a name.
func ParseKind(name string) (Kind, bool) {
	for k, n := range kindNames {
		if n == name && n != "" {
			return Kind(k), true
		}
	}
	return 0, false
}

// Word is what a nameserver tells the others about a broker.
type Word struct {
	Kind Kind
	Broker
	Version codec.DataVersion // of the registration it is about
	// Sign is when the sender last had a sign of life of the broker, in this process's monotonic nanoseconds: it travels as an age, so that
	// no two clocks are ever compared. What the way took makes it earlier than it was, never later (see package peers).
	Sign int64
}
