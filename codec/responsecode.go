package codec

// Response codes that a nameserver uses. The comments carry Apache's names.
const (
	ResponseSuccess                 int32 = 0    // SUCCESS
	ResponseSystemError             int32 = 1    // SYSTEM_ERROR: the remark says what failed
	ResponseSystemBusy              int32 = 2    // SYSTEM_BUSY: refused for now, the connection stays
	ResponseRequestCodeNotSupported int32 = 3    // REQUEST_CODE_NOT_SUPPORTED
	ResponseNoPermission            int32 = 16   // NO_PERMISSION: a black-listed key in 318
	ResponseTopicNotExist           int32 = 17   // TOPIC_NOT_EXIST: no route, or not ready yet
	ResponseQueryNotFound           int32 = 22   // QUERY_NOT_FOUND: no such KV key or namespace
	ResponseGoAway                  int32 = 1500 // GO_AWAY: connect elsewhere, the server is stopping
)

// Bits of a header's flag. All others are ignored.
const (
	FlagResponse int32 = 1 // the frame answers a request
	FlagOneway   int32 = 2 // the sender wants no answer, not even an error
)
