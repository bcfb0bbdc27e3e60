package netpoll

import (
	"slices"
	"sync"
)

// framePool keeps memory of large frames for the next ones of its loop. Brokers send theirs every 30 seconds: no
// sync.Pool would keep it so long.
//
// Concurrency contract: get on the loop; put also on the goroutines that took frames.
type framePool struct {
	mu    sync.Mutex
	free  []*LargeFrame // the smallest first
	bytes int           // capacity of all of them
	most  int           // bound of bytes
}

const (
	keptBytes      = 8 << 20 // memory for large frames that the process keeps
	keptFrameBytes = 2 << 20 // a frame's that is larger is left to the garbage collector
)

// init sets the pool up as one of so many.
func (p *framePool) init(loops int) { p.most = max(keptBytes/loops, keptFrameBytes) }

// get is memory for a frame of want bytes, of which have are there: the smallest that holds all of it, or the largest that
// is no worse than fresh memory, or that.
func (p *framePool) get(have, want int) *LargeFrame {
	least := capacity(have, want)
	if f := p.kept(least, want); f != nil {
		return f
	}
	return &LargeFrame{b: make([]byte, 0, least), pool: p}
}

func (p *framePool) kept(least, want int) *LargeFrame {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := p.place(want)
	if i == len(p.free) {
		i--
	}
	if i < 0 || cap(p.free[i].b) < least {
		return nil
	}
	f := p.free[i]
	p.remove(i)
	return f
}

// place is the index of the smallest that holds n bytes.
func (p *framePool) place(n int) int {
	i := 0
	for i < len(p.free) && cap(p.free[i].b) < n {
		i++
	}
	return i
}

// put keeps f's memory, instead of smaller ones if there is too much.
func (p *framePool) put(f *LargeFrame) {
	if cap(f.b) > keptFrameBytes {
		return
	}
	f.b = f.b[:0]
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = slices.Insert(p.free, p.place(cap(f.b)), f)
	p.bytes += cap(f.b)
	for p.bytes > p.most {
		p.remove(0)
	}
}

func (p *framePool) remove(i int) {
	p.bytes -= cap(p.free[i].b)
	p.free = slices.Delete(p.free, i, i+1)
}
