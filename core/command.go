package core

import "github.com/waymark-mq/waymark/codec"

// ConnID names one connection for the life of the process. 0 is no connection.
type ConnID uint64

// Command is one change that the writer applies, in the order queued. The
// implementations below are all there are.
type Command interface{ command() }

// ActingMaster is the header field enableActingMaster of a registration.
type ActingMaster uint8

const (
	ActingAbsent ActingMaster = iota // a 4.x broker
	ActingFalse
	ActingTrue
)

// Peer is a connection and the address of its other end ("" if nobody knows it): who asked for a change. The table
// does nothing with the address but hand it on.
type Peer struct {
	Conn ConnID
	Addr string
}

// RegisterBroker is REGISTER_BROKER (103) after all checks that need no table.
type RegisterBroker struct {
	Conn         ConnID
	PeerAddr     string // the connection's other end
	Claimed      bool   // only a PROXY header that anybody may send says that it is at PeerAddr
	WallMillis   int64  // when it came, ms since the Unix epoch; kept to be shown
	ClusterName  string
	BrokerName   string
	BrokerAddr   string
	HAServerAddr codec.NullString
	BrokerID     int64
	// TimeoutMillis is what the header asked for; HasTimeout false means the
	// default of 120,000. The table clamps it to 1 s … 1 year.
	TimeoutMillis int64
	HasTimeout    bool
	ActingMaster  ActingMaster
	ZoneName      codec.NullString
	Body          *codec.RegisterBody
	// Memo recognises the same registration when it comes again; nil means that
	// it is not to be recognised.
	Memo *RegisterMemo
}

// UnregisterBroker is UNREGISTER_BROKER (104): the address goes from the
// broker name, whatever id and cluster say.
type UnregisterBroker struct {
	By                                  Peer
	ClusterName, BrokerName, BrokerAddr string
	BrokerID                            int64
}

// EndConnection is the end of a connection, the last command of its order.
// Every broker that the connection still owns is unregistered.
type EndConnection struct {
	Conn     ConnID
	PeerAddr string
	// Touched are the cells whose ownership the connection took by a sign of life that passed the
	// writer by; those it took by registering are known to the table.
	Touched []*LiveCell
	ByPeer  bool // the other end ended it, or the network; not this server
	// Keep: the brokers stay, owned by nobody until they show life on another connection.
	Keep bool
}

// DeclareDead is evidence from outside the table that a broker has died: it didn't answer probes, or another nameserver
// says so. It removes the broker unless that has shown life after Since or registered more than the evidence knows of. The connection stays:
// other brokers may use it, and this one may come back on it. Brokers that the expiry guard holds go by no other's word.
type DeclareDead struct {
	ClusterName, BrokerName, BrokerAddr string
	Since                               int64 // monotonic nanoseconds
	// Version is that of the registration that the evidence is about.
	Version codec.DataVersion
	By      string // the nameserver whose word it is; "": probes from here
}

// QueryDataVersion is a two-way QUERY_DATA_VERSION (322) that must see the
// registrations its connection sent before it.
type QueryDataVersion struct {
	Conn                    ConnID
	ClusterName, BrokerAddr string
	DataVersion             codec.DataVersion
	HasDataVersion          bool
}

// DeleteTopic is DELETE_TOPIC_IN_NAMESRV (216). An empty ClusterName means all clusters.
type DeleteTopic struct {
	By          Peer
	Topic       string
	ClusterName string
}

// RegisterTopic is REGISTER_TOPIC_IN_NAMESRV (217).
type RegisterTopic struct {
	By     Peer
	Topic  string
	Queues []codec.QueueData
}

// WipeWritePerm is WIPE_WRITE_PERM_OF_BROKER (205).
type WipeWritePerm struct {
	By         Peer
	BrokerName string
}

// AddWritePerm is ADD_WRITE_PERM_OF_BROKER (327).
type AddWritePerm struct {
	By         Peer
	BrokerName string
}

// PutKV is PUT_KV_CONFIG (100) after it was made durable. A null value reads
// as absent but creates the namespace.
type PutKV struct {
	By             Peer
	Namespace, Key string
	Value          codec.NullString
}

// DeleteKV is DELETE_KV_CONFIG (102) after it was made durable. The namespace stays.
type DeleteKV struct {
	By             Peer
	Namespace, Key string
}

// SetSettings is UPDATE_NAMESRV_CONFIG (318) after it was made durable.
type SetSettings struct{ Settings Settings }

// Tick advances the timing wheel to the step's time. Lateness is by how much
// the tick itself came late (nanoseconds): the process was frozen, so every
// deadline shifts by as much.
type Tick struct{ LatenessNanos int64 }

// Restore fills a table that has no broker with what an earlier process knew. All of it is provisional until UntilNanos
// (monotonic).
type Restore struct {
	State       *State
	UntilNanos  int64
	SinceNanos  int64 // how long ago the state was written
	MaxAgeNanos int64 // brokers whose last sign of life is longer ago aren't restored
}

// DropRestored removes those of the brokers that are still provisional: their addresses refuse connections.
type DropRestored struct{ Brokers []BrokerAddress }

// BrokerAddress names a live broker.
type BrokerAddress struct{ ClusterName, BrokerAddr string }

func (*RegisterBroker) command()   {}
func (*UnregisterBroker) command() {}
func (*EndConnection) command()    {}
func (*DeclareDead) command()      {}
func (*QueryDataVersion) command() {}
func (*DeleteTopic) command()      {}
func (*RegisterTopic) command()    {}
func (*WipeWritePerm) command()    {}
func (*AddWritePerm) command()     {}
func (*PutKV) command()            {}
func (*DeleteKV) command()         {}
func (*SetSettings) command()      {}
func (*Tick) command()             {}
func (*Restore) command()          {}
func (*DropRestored) command()     {}

// Settings are the configuration keys that answers are made of. They change
// only through the writer, so that one snapshot is one truth.
type Settings struct {
	OrderMessageEnable                bool
	ReturnOrderTopicConfigToBroker    bool
	SupportActingMaster               bool
	NotifyMinBrokerIDChanged          bool
	DeleteTopicWithBrokerRegistration bool
	// OrderConfStrict leaves order configurations that clients can't read out of all answers.
	OrderConfStrict bool
	// BrokerCloseGraceMillis is how long a broker stays after its connection ended, for it to
	// come back on another; 0, Apache's way, is not at all.
	BrokerCloseGraceMillis int64
	// ExpiryGuardPercent is the share of all brokers above which those that fall silent at once stay
	// for a while; 0, Apache's way, is off. See expiryguard.go.
	ExpiryGuardPercent int64
	// ExpiryGuardMaxMillis is for how long.
	ExpiryGuardMaxMillis int64
}

// DefaultSettings are Apache's defaults.
func DefaultSettings() Settings {
	return Settings{ReturnOrderTopicConfigToBroker: true}
}
