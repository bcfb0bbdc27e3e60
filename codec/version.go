package codec

// Ordinals of releases, as headers carry them. Source: Apache RocketMQ 5.5.0, MQVersion.
const (
	// ServerVersion is the ordinal of 5.5.0, which every answer carries.
	ServerVersion = 513
	// VersionStandardJSON is the ordinal of 4.9.4: from it on, senders get
	// routes in the Standard dialect. The number is compared as sent.
	VersionStandardJSON = 401
)
