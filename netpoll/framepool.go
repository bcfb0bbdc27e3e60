package netpoll

import (
	"slices"
	"sync"
)

// framePool is the memory of a loop's large frames. What it owns is used again and again: brokers send theirs every 30
// seconds, and no sync.Pool would keep it so long. A frame gets as much as it will need at once while the pool's bound allows;
// beyond it, its memory grows with what comes and is garbage afterwards.
//
// Concurrency contract: get on the loop; put also on the goroutines that took frames.
type framePool struct {
	mu    sync.Mutex
	free  []*LargeFrame // the smallest first
	owned int           // capacity of all that the pool owns, in use or free
	most  int           // bound of owned
}

const (
	keptBytes      = 24 << 20 // default of FramePoolBytes; a loop has keptFrameBytes at least
	keptFrameBytes = 2 << 20  // a frame's that is larger is left to the garbage collector
)

// init sets the pool up as one of so many that keep bytes together.
func (p *framePool) init(loops, bytes int) { p.most = max(bytes/loops, keptFrameBytes) }

// get returns memory for a frame of want bytes, of which have are there: the smallest free one that holds it, or
// fresh memory.
func (p *framePool) get(have, want int) *LargeFrame {
	if f := p.own(want); f != nil {
		return f
	}
	return &LargeFrame{b: make([]byte, 0, capacity(have, want)), pool: p}
}

// own is get within the bound; nil if there is no room. Free memory that is too small gives way.
func (p *framePool) own(want int) *LargeFrame {
	size := rounded(want)
	if size > keptFrameBytes {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, f := range p.free {
		if cap(f.b) >= want {
			p.free = slices.Delete(p.free, i, i+1)
			return f
		}
	}
	for p.owned+size > p.most && len(p.free) > 0 {
		p.owned -= cap(p.free[0].b)
		p.free = slices.Delete(p.free, 0, 1)
	}
	if p.owned+size > p.most {
		return nil
	}
	p.owned += size
	return &LargeFrame{b: make([]byte, 0, size), pool: p, owned: true}
}

// put takes back what the pool owns.
func (p *framePool) put(f *LargeFrame) {
	if !f.owned {
		return
	}
	f.b = f.b[:0]
	p.mu.Lock()
	defer p.mu.Unlock()
	i := 0
	for i < len(p.free) && cap(p.free[i].b) < cap(f.b) {
		i++
	}
	p.free = slices.Insert(p.free, i, f)
}
