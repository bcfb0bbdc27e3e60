package codec

import "errors"

// Errors of a frame or a header. After each of them the connection is to be
// closed without an answer. They carry no sizes, so that hostile input costs no
// allocation.
var (
	ErrFrameShort        = errors.New("codec: frame length below 4 or negative")
	ErrFrameLong         = errors.New("codec: frame longer than the limit")
	ErrFrameTruncated    = errors.New("codec: frame length and size differ")
	ErrFrameHeaderLength = errors.New("codec: header empty or longer than its frame")
	ErrFrameType         = errors.New("codec: unknown header serialization type")

	ErrHeaderSyntax    = errors.New("codec: header is not a JSON object")
	ErrHeaderUTF8      = errors.New("codec: JSON header is not UTF-8")
	ErrHeaderNumber    = errors.New("codec: header member is not a 32-bit integer")
	ErrHeaderDepth     = errors.New("codec: JSON header nests too deep")
	ErrHeaderExtFields = errors.New("codec: extFields is not an object")
	ErrHeaderFields    = errors.New("codec: header has too many ext fields")
	ErrHeaderLength    = errors.New("codec: binary header has a negative length or ends early")
)
