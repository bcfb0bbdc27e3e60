package codec

// QueueData is the share of one broker in a topic.
type QueueData struct {
	BrokerName     string
	ReadQueueNums  int32
	WriteQueueNums int32
	Perm           int32
	TopicSysFlag   int32
}

// Permission bits of QueueData.Perm.
const (
	PermWrite = 2
	PermRead  = 4
)

// Bits of TopicSysFlag.
const (
	TopicFlagUnit    = 1
	TopicFlagUnitSub = 2
)

// Dialect is the form of a response body's JSON.
type Dialect uint8

const (
	// Standard quotes integer keys. For requests of version 401 (V4_9_4) and later.
	Standard Dialect = iota
	// Legacy writes integer keys bare: {0:"a"}. For everybody else, and for all bodies but the route's.
	Legacy
)
