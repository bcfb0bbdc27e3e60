package api

import (
	"strconv"
	"time"
)

// jsonTime is written as RFC 3339 with milliseconds, UTC.
type jsonTime time.Time

const timeLayout = "2006-01-02T15:04:05.000Z07:00"

func (t jsonTime) MarshalJSON() ([]byte, error) {
	return time.Time(t).UTC().AppendFormat(make([]byte, 0, 32), `"`+timeLayout+`"`), nil
}

// fromMillis is wall time as the table keeps it, ms since the Unix epoch.
func fromMillis(ms int64) jsonTime { return jsonTime(time.UnixMilli(ms)) }

// seconds are written as a number with milliseconds.
type seconds time.Duration

func (s seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(s).Round(time.Millisecond).Seconds(), 'f', -1, 64), nil
}
