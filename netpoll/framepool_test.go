package netpoll

import (
	"slices"
	"testing"
)

// TestFramePoolIsBounded: the sizes that are kept after some were given back, in KiB.
func TestFramePoolIsBounded(t *testing.T) {
	for _, tc := range []struct {
		name  string
		loops int
		given []int
		kept  []int
	}{
		{"some", 1, []int{1024, 64, 512}, []int{64, 512, 1024}},
		{"larger ones instead of smaller", 1, []int{64, 2048, 2048, 64, 2048, 2048}, []int{2048, 2048, 2048, 2048}},
		{"smaller ones not instead of larger", 1, []int{2048, 2048, 2048, 2048, 64}, []int{2048, 2048, 2048, 2048}},
		{"too large", 1, []int{64, 2049}, []int{64}},
		{"a share", 2, []int{2048, 2048, 2048}, []int{2048, 2048}},
		{"a share is one at least", 256, []int{2048, 1024}, []int{2048}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var p framePool
			p.init(tc.loops)
			for _, size := range tc.given {
				p.put(&LargeFrame{b: make([]byte, 100, size*kib), pool: &p})
			}
			var kept []int
			sum := 0
			for _, f := range p.free {
				kept = append(kept, cap(f.b)/kib)
				sum += cap(f.b)
			}
			if !slices.Equal(kept, tc.kept) || p.bytes != sum {
				t.Errorf("kept %v, want %v; %d bytes counted, want %d", kept, tc.kept, p.bytes, sum)
			}
		})
	}
}

func TestFramePoolFits(t *testing.T) {
	var p framePool
	p.init(1)
	for _, size := range []int{1024, 128, 512, 256} {
		p.put(&LargeFrame{b: make([]byte, 1, size*kib), pool: &p})
	}
	for _, tc := range []struct{ want, size int }{
		{300, 512},   // the smallest that holds it
		{2000, 1024}, // the largest of those that don't
		{128, 128},
		{200, 256},
		{200, 64}, // none left: fresh, for what is there
	} {
		f := p.get(20*kib, tc.want*kib)
		if len(f.b) != 0 || cap(f.b) != tc.size*kib {
			t.Errorf("for %d KiB: %d bytes in %d KiB, want %d KiB", tc.want, len(f.b), cap(f.b)/kib, tc.size)
		}
	}
}
