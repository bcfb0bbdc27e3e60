package netpoll

import (
	"bytes"
	"testing"
)

// Answers are collected in the loop's own memory and leave it once: as many bytes are written as were answered, in one write
// for each read, or for each 256 KiB of a read.
func TestAnswersAreWrittenOnce(t *testing.T) {
	small, large := frameOf("one of many"), bigFrame(60*kib)
	for _, tc := range []struct {
		name   string
		frames [][]byte
		writes uint64
		grows  bool // the loop's memory
	}{
		{"none", [][]byte{small[:5]}, 0, false},
		{"one", [][]byte{small}, 1, false},
		{"32", repeated(small, 32), 1, false},
		{"to the brim", [][]byte{large, bigFrame(4 * kib)}, 1, false},
		{"more than there is room for", repeated(large, 3), 1, true},
		{"more than one write's", repeated(large, 8), 2, true}, // 300 KiB and 180
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, _ := newTestPipe(newEcho(), Options{})
			mustFeed(t, p, small) // past the sniffing
			room := &p.loop.out[:1][0]
			before := p.loop.counts
			stream := bytes.Join(tc.frames, nil)
			answers := mustFeed(t, p, stream)
			counts := p.loop.counts
			if n := counts.bytesOut - before.bytesOut; n != uint64(len(answers)) {
				t.Errorf("%d bytes written, %d of answers", n, len(answers))
			}
			if n := counts.writes - before.writes; n != tc.writes || p.Writes() != int(counts.writes) {
				t.Errorf("%d writes counted, want %d; %d made, %d counted since the start", n, tc.writes, p.Writes(), counts.writes)
			}
			if moved := &p.loop.out[:1][0] != room; moved != tc.grows {
				t.Errorf("the loop's memory moved: %v, want %v", moved, tc.grows)
			}
			if tc.writes > 0 && !bytes.Equal(answers, stream) {
				t.Error("answers differ")
			}
		})
	}
}

// Memory that one read's answers have made grow stays as it is for the next, up to a bound.
func TestAnswersGrowOnce(t *testing.T) {
	p, _ := newTestPipe(newEcho(), Options{})
	stream := bytes.Repeat(bigFrame(60*kib), 3)
	mustFeed(t, p, stream)
	room := &p.loop.out[:1][0]
	for range 3 {
		mustFeed(t, p, stream)
		if &p.loop.out[:1][0] != room {
			t.Fatal("the loop's memory moved again")
		}
	}
}

func repeated(frame []byte, n int) [][]byte {
	var all [][]byte
	for range n {
		all = append(all, frame)
	}
	return all
}
