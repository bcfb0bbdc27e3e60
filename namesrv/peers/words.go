package peers

import (
	"encoding/binary"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/namesrv/binread"
	"github.com/waymark-mq/waymark/namesrv/verdict"
)

// maxAge bounds what a word may say of a time that has passed, in nanoseconds: more than any broker's timeout, a year.
const maxAge = int64(366*24*3600) * 1e9

// leastWordBytes is the shortest word: six texts and numbers of a byte each are not the whole of it.
const leastWordBytes = 10

// appendWord appends a word, and how old its sign of life is now.
func appendWord(dst []byte, w *verdict.Word, now int64) []byte {
	dst = appendText(dst, w.Kind.String())
	dst = appendText(dst, w.ClusterName)
	dst = appendText(dst, w.BrokerName)
	dst = appendText(dst, w.BrokerAddr)
	dst = binary.AppendVarint(dst, w.BrokerID)
	dst = binary.AppendVarint(dst, w.Version.StateVersion)
	dst = binary.AppendVarint(dst, w.Version.Timestamp)
	dst = binary.AppendVarint(dst, w.Version.Counter)
	dst = append(dst, 0)
	if w.Version.NullCounter {
		dst[len(dst)-1] = 1
	}
	return binary.AppendVarint(dst, min(max(now-w.Sign, 0), maxAge))
}

// sendable reports whether a word can be said: a broker may have any name, but not one that would fill a message.
func sendable(w *verdict.Word) bool {
	return w.Kind.String() != "" && len(w.ClusterName) <= maxTextBytes && len(w.BrokerName) <= maxTextBytes && len(w.BrokerAddr) <= maxTextBytes
}

// words reads what a words message says. sent is when it was sent, in our time, at the earliest. Words of kinds that aren't known here are left
// out and counted.
func (r *reader) words(sent int64) (words []verdict.Word, unknown int) {
	n := r.Count(leastWordBytes)
	if n > maxBatchWords {
		r.Fail(binread.ErrTooLong)
		return nil, 0
	}
	words = make([]verdict.Word, 0, n)
	for range n {
		w, known := r.word(sent)
		if r.Err() != nil {
			return nil, 0
		}
		if !known {
			unknown++
			continue
		}
		words = append(words, w)
	}
	return words, unknown
}

func (r *reader) word(sent int64) (w verdict.Word, known bool) {
	w.Kind, known = verdict.ParseKind(r.Text(maxNameBytes))
	w.ClusterName, w.BrokerName, w.BrokerAddr = r.Text(maxTextBytes), r.Text(maxTextBytes), r.Text(maxTextBytes)
	w.BrokerID = r.Varint()
	w.Version = codec.DataVersion{StateVersion: r.Varint(), Timestamp: r.Varint(), Counter: r.Varint()}
	w.Version.NullCounter = r.Byte() != 0
	age := r.nanos()
	if age > maxAge {
		r.Fail(binread.ErrNumber)
	}
	w.Sign = sent - age
	return w, known
}
