// Package routesnapshot is the form of the file that keeps the routes over a restart. It turns core.State into bytes and back, and
// knows neither files nor clocks.
//
//	header   8 bytes "WAYMARKR", version (uint32), wall time of the writing (int64, ms since the Unix epoch)
//	body     groups, settings, lists of queues, topics, static mappings, live brokers: each a count and so many records
//	trailer  number of bytes before it (uint64), CRC-32C of all bytes before the checksum (uint32)
//
// Fixed numbers are big-endian; those of the body are varints, signed ones zigzag, and a text is its length and its bytes, a text
// that may be null its length plus one, or 0. A file of another version, a cut or a changed one is an error.
//
// Why not JSON: topics share lists of queues, here as in memory, so that 300 brokers of 10,000 topics are half a megabyte instead of
// 200 MB of routes; and names are any bytes, which JSON doesn't carry.
package routesnapshot
