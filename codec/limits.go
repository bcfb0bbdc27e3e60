package codec

const (
	// DefaultMaxFrameBytes is the longest frame accepted, its length field
	// included. Source: Apache RocketMQ 5.5.0, com.rocketmq.remoting.frameMaxLength.
	DefaultMaxFrameBytes = 16 << 20

	// MaxExtFields is the largest number of ext fields a header may have,
	// duplicates counted. Apache has no such limit; real peers send up to 15.
	// It bounds the memory of a Command and the work of skipping duplicates.
	MaxExtFields = 256

	// maxHeaderBytes is what the 24 bits of the header length can say.
	maxHeaderBytes = 1<<24 - 1

	// maxHeaderDepth is how deep values inside a JSON header may nest. The
	// deepest that real peers send is 1; a hostile megabyte of brackets is refused.
	maxHeaderDepth = 2048

	// maxKeptScratchBytes is how much scratch memory a Command keeps from one
	// request to the next. A hostile header needs up to 16 MiB, once.
	maxKeptScratchBytes = 64 << 10
)
