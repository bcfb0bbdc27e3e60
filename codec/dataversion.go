package codec

import (
	"fmt"
	"strconv"
)

// DataVersion is the version of a broker's topic table. Two versions are equal
// (==) only if all members are.
//
// JSON: {"counter":3,"stateVersion":0,"timestamp":1700000000000}.
type DataVersion struct {
	StateVersion int64 // epoch of the controller or HA service; 0 from 4.x brokers
	Timestamp    int64 // ms since the Unix epoch
	Counter      int64
	NullCounter  bool // the counter was null; it is then left out on output
}

// After reports whether v knows of anything that o doesn't: any of its numbers is greater.
func (v DataVersion) After(o DataVersion) bool {
	return v.StateVersion > o.StateVersion || v.Timestamp > o.Timestamp || v.Counter > o.Counter
}

// Append appends v as JSON, the body of QUERY_DATA_VERSION (322) in both
// directions. A null counter is left out.
func (v DataVersion) Append(dst []byte) []byte {
	dst = append(dst, '{')
	if !v.NullCounter {
		dst = append(dst, `"counter":`...)
		dst = strconv.AppendInt(dst, v.Counter, 10)
		dst = append(dst, ',')
	}
	dst = append(dst, `"stateVersion":`...)
	dst = strconv.AppendInt(dst, v.StateVersion, 10)
	dst = append(dst, `,"timestamp":`...)
	dst = strconv.AppendInt(dst, v.Timestamp, 10)
	return append(dst, '}')
}

// ParseDataVersion reads a DataVersion. Absent members are counter 0,
// stateVersion 0 (4.x brokers send none) and timestamp nowMillis. The JSON
// value null is ErrNullBody; Apache takes such a body for none.
func ParseDataVersion(b []byte, nowMillis int64) (DataVersion, error) {
	r := jsonReader{b: b}
	v := DataVersion{Timestamp: nowMillis}
	if r.root() {
		r.dataVersionMembers(&v)
	}
	if err := r.finish(); err != nil {
		return DataVersion{}, fmt.Errorf("codec: data version: %w", err)
	}
	return v, nil
}

// dataVersion reads a value that is a DataVersion or null, which is all zeros.
func (r *jsonReader) dataVersion(nowMillis int64) DataVersion {
	if r.null() {
		return DataVersion{}
	}
	v := DataVersion{Timestamp: nowMillis}
	if r.open('{') {
		r.dataVersionMembers(&v)
	}
	return v
}

func (r *jsonReader) dataVersionMembers(v *DataVersion) {
	for key, ok := r.member(); ok; key, ok = r.member() {
		switch string(key) {
		case "counter":
			v.NullCounter = r.peek() == 'n'
			v.Counter = r.int64()
		case "stateVersion":
			v.StateVersion = r.int64()
		case "timestamp":
			v.Timestamp = r.int64()
		default:
			r.skip()
		}
	}
}
