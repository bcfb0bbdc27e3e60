package netpoll

import (
	"slices"
	"testing"
)

// free is the sizes of a pool's free memory in KiB.
func (p *framePool) sizes() (free []int) {
	for _, f := range p.free {
		free = append(free, cap(f.b)/kib)
	}
	return free
}

// TestFramePoolIsBounded: frames of these sizes, in KiB, are there at once, then given back.
func TestFramePoolIsBounded(t *testing.T) {
	many := func(n, size int) []int { return slices.Repeat([]int{size}, n) }
	for _, tc := range []struct {
		name   string
		loops  int
		frames []int
		kept   []int
	}{
		{"some", 1, []int{1024, 64, 512}, []int{64, 512, 1024}},
		{"rounded", 1, []int{1000, 33}, []int{64, 1024}},
		{"too many", 1, many(30, 1024), many(24, 1024)},
		{"too large", 1, []int{64, 2049}, []int{64}},
		{"a share", 4, many(4, 2048), many(3, 2048)},
		{"a share is one at least", 256, []int{2048, 1024}, []int{2048}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var p framePool
			p.init(tc.loops, keptBytes)
			var frames []*LargeFrame
			for _, size := range tc.frames {
				f := p.get(20*kib, size*kib)
				if f.owned != (cap(f.b) >= size*kib) {
					t.Errorf("%d of %d KiB, owned %v", cap(f.b)/kib, size, f.owned)
				}
				frames = append(frames, f)
			}
			for _, f := range frames {
				p.put(f)
			}
			sum := 0
			for _, size := range p.sizes() {
				sum += size * kib
			}
			if got := p.sizes(); !slices.Equal(got, tc.kept) || p.owned != sum {
				t.Errorf("kept %v, want %v; owns %d bytes, counted %d", got, tc.kept, sum, p.owned)
			}
		})
	}
}

func TestFramePoolFits(t *testing.T) {
	var p framePool
	p.init(6, keptBytes) // 4 MiB
	var frames []*LargeFrame
	for _, size := range []int{1024, 128, 512, 256} {
		frames = append(frames, p.get(20*kib, size*kib))
	}
	for _, f := range frames {
		p.put(f)
	}
	for _, tc := range []struct{ want, size int }{
		{300, 512}, // the smallest that holds it
		{128, 128},
		{1900, 1920}, // none: there is room beside the others
		{200, 256},
		{700, 1024},
		{500, 40}, // no room: for what is there
	} {
		f := p.get(20*kib, tc.want*kib)
		if len(f.b) != 0 || cap(f.b) != tc.size*kib {
			t.Errorf("for %d KiB: %d bytes in %d KiB, want %d KiB", tc.want, len(f.b), cap(f.b)/kib, tc.size)
		}
	}
}

// Free memory that is too small gives way to a frame that needs more.
func TestFramePoolFollowsTheFrames(t *testing.T) {
	var p framePool
	p.init(12, keptBytes) // 2 MiB
	small := []*LargeFrame{p.get(20*kib, 1024*kib), p.get(20*kib, 1024*kib)}
	if f := p.get(20*kib, 1500*kib); f.owned {
		t.Error("more than the bound while the small ones are in use")
	}
	for _, f := range small {
		p.put(f)
	}
	f := p.get(20*kib, 1500*kib)
	if !f.owned || len(p.free) != 0 || p.owned != cap(f.b) {
		t.Errorf("owned %v, free %v, %d bytes owned", f.owned, p.sizes(), p.owned)
	}
}
