package namesrv

import (
	"hash/maphash"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// memoFields are the header fields that a registration's effect depends on. bodyCrc32 and a
// signature change with the timestamp in the body, and say nothing by themselves.
var memoFields = []string{
	"clusterName", "brokerName", "brokerAddr", "brokerId", "haServerAddr", "heartbeatTimeoutMillis",
	"enableActingMaster", "compressed", "__ZONE_NAME",
}

var memoSeed = maphash.MakeSeed()

// newMemo makes what recognises the registration in c when it comes again.
func newMemo(c *codec.Command, timestamp codec.Span) *core.RegisterMemo {
	return &core.RegisterMemo{Sum: memoSum(c, timestamp), BodyBytes: len(c.Body), Skip: timestamp}
}

// memoMatches reports whether the request in hand is the registration that m remembers,
// whatever digits stand in its timestamp.
func (l *loop) memoMatches(m *core.RegisterMemo) bool {
	if len(l.cmd.Body) != m.BodyBytes {
		return false
	}
	for _, b := range l.cmd.Body[m.Skip.Start:m.Skip.End] {
		if b < '0' || b > '9' {
			return false
		}
	}
	return memoSum(&l.cmd, m.Skip) == m.Sum
}

// memoSum hashes all of the request that matters. Lengths go in first, so that
// no two requests make the same bytes.
func memoSum(c *codec.Command, skip codec.Span) uint64 {
	var h maphash.Hash
	h.SetSeed(memoSeed)
	writeNumber(&h, int(c.Version))
	for _, name := range memoFields {
		v, ok := c.Field(name)
		if !ok {
			writeNumber(&h, -1)
			continue
		}
		writeNumber(&h, len(v))
		h.Write(v)
	}
	h.Write(c.Body[:skip.Start])
	h.Write(c.Body[skip.End:])
	return h.Sum64()
}

func writeNumber(h *maphash.Hash, n int) {
	h.Write([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
}
