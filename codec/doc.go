// Package codec turns the bytes of the RocketMQ remoting protocol into commands
// and back: the frame, both forms of the header, and the bodies that a
// nameserver reads and writes. It does no I/O and keeps no state.
//
// # Frame
//
// Integers are big-endian, text is UTF-8.
//
//	offset 0      int32   length     bytes that follow this field: 4 + header + body
//	offset 4      uint8   type       0: JSON header, 1: binary ("ROCKETMQ") header
//	offset 5      uint24  headerLen
//	offset 8      bytes   header     headerLen bytes
//	offset 8 + h  bytes   body       length - 4 - headerLen bytes, may be none
//
// A reader holds 4 bytes, asks [FrameLength] how many the frame has, waits for
// them, and cuts the frame with [ParseFrame]. An error of either means that
// the stream has lost its frames: only closing the connection helps.
//
// # Header
//
// The JSON header (header_json.go) is an object of code, extFields, flag,
// language, opaque, remark and version. The binary header (header_rocketmq.go) is
//
//	offset 0   int16  code
//	offset 2   uint8  language
//	offset 3   int16  version
//	offset 5   int32  opaque
//	offset 9   int32  flag
//	offset 13  int32  remarkLen, and the remark
//	then       int32  extLen, and entries { int16 nameLen, name, int32 valueLen, value }
//
// Both are read by [Command.Parse] and written by [AppendFrameStart].
//
// # Views
//
// A [Command] is a view of one request. Every slice that it hands out (Remark,
// Body, the results of Field and what Each passes on) aliases the frame or the
// command's own scratch memory.
//
//   - It may be read until the frame's bytes are given back or the next Parse,
//     whichever comes first. What has to live longer is copied by whoever wants it.
//   - It may not be written to, copied as a struct, or shared between goroutines.
//   - It may, and should, be reused: after the first few requests Parse allocates nothing.
package codec
