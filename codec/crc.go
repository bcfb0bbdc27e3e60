package codec

import "hash/crc32"

// BodyCRC is what the field bodyCrc32 of REGISTER_BROKER (103) holds: the
// CRC-32 (IEEE) of the body exactly as sent, deflated or not, without its top
// bit. No body is 0, and so is a field that is not to be checked.
func BodyCRC(body []byte) int32 {
	return int32(crc32.ChecksumIEEE(body) & 0x7fffffff)
}
