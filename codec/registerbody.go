package codec

// TopicConfig is one topic of a registration. The nameserver keeps nothing of
// the filter type, the order flag and the attributes.
type TopicConfig struct {
	Key            string // key in topicConfigTable; what deleteTopicWithBrokerRegistration compares
	Name           string // topicName, under which the topic is stored
	HasName        bool   // topicName was present and not null
	ReadQueueNums  int32
	WriteQueueNums int32
	Perm           int32
	TopicSysFlag   int32
}

// TopicQueueMapping is the static mapping of one topic's logical queues to the
// queues of one broker. Null strings are left out on output.
type TopicQueueMapping struct {
	Key         string // key in topicQueueMappingInfoMap, under which it is stored
	Topic       NullString
	Scope       NullString
	BrokerName  NullString // JSON member bname
	TotalQueues int32
	Epoch       int64
	Dirty       bool
	CurrIDMap   []IDPair // sorted by Logical
	NullIDMap   bool     // currIdMap was null
}

// IDPair maps a logical queue id to a physical one.
type IDPair struct{ Logical, Physical int32 }

// NullString is a JSON string that may be null.
type NullString struct {
	S     string
	Valid bool
}

// Span is a range of byte offsets, End exclusive.
type Span struct{ Start, End int }

// RegisterBody is the decoded body of REGISTER_BROKER (103). It owns its memory.
type RegisterBody struct {
	DataVersion    DataVersion
	Topics         []TopicConfig       // keys are unique; of a repeated key the last stands, at the place of the first
	NullTopicTable bool                // wrapper or topicConfigTable was null: nothing is applied, nothing deleted
	Mappings       []TopicQueueMapping // keys are unique, as above
	FilterServers  []string
	// HasFilterServers false: the list was null, or the form has none; the known
	// list stays. True and empty: the list was empty or absent, or there was no
	// body; the known list is cleared.
	HasFilterServers bool
	// MappingTimestamp is where the digits of mappingDataVersion.timestamp stand
	// in the body as sent; zero if there are none. 5.x brokers change them with every registration.
	MappingTimestamp Span
}
