package codec

import (
	"bytes"
	"encoding/binary"
	"io"
	"sync"

	"github.com/klauspost/compress/zlib"
)

const (
	inflateBufferMin  = 4 << 10
	inflateBufferKept = 64 << 10 // a larger buffer is not kept for the next body
)

// inflater reads length-prefixed items out of a zlib stream, never holding
// more than the item it is at and never inflating more than allowed. What
// follows the last item that is asked for is not looked at.
//
// Inflaters are pooled: each holds some 40 KiB of window and tables. One
// belongs to one goroutine from newInflater to free.
type inflater struct {
	source bytes.Reader
	zlib   io.ReadCloser // nil until first used
	buf    []byte
	r, w   int // buf[r:w] is inflated and not yet consumed
	left   int // bytes that may still be inflated
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// newInflater starts on a zlib stream; at most limit bytes may come out of it.
func newInflater(stream []byte, limit int) (*inflater, error) {
	f := inflaters.Get().(*inflater)
	f.source.Reset(stream)
	f.r, f.w, f.left = 0, 0, limit
	var err error
	if f.zlib == nil {
		f.zlib, err = zlib.NewReader(&f.source)
	} else {
		err = f.zlib.(zlib.Resetter).Reset(&f.source, nil)
	}
	if err != nil {
		f.free()
		return nil, err
	}
	return f, nil
}

// free gives f back; slices that item returned are no longer good.
func (f *inflater) free() {
	f.source.Reset(nil)
	if len(f.buf) > inflateBufferKept {
		f.buf = nil
	}
	inflaters.Put(f)
}

// int32 reads a big-endian integer.
func (f *inflater) int32() (int32, error) {
	b, err := f.take(4)
	if err != nil {
		return 0, err
	}
	return int32(binary.BigEndian.Uint32(b)), nil
}

// item reads a length and so many bytes, which are good until the next read.
func (f *inflater) item() ([]byte, error) {
	n, err := f.int32()
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, errNegativeCount
	}
	return f.take(int(n))
}

// grow doubles the buffer, but not beyond the n bytes that it is to hold.
func (f *inflater) grow(n int) {
	buf := make([]byte, max(inflateBufferMin, min(n, 2*len(f.buf))))
	copy(buf, f.buf[:f.w])
	f.buf = buf
}

// take reads n bytes, good until the next read. The buffer grows with what
// comes, not with what is announced.
func (f *inflater) take(n int) ([]byte, error) {
	if n-(f.w-f.r) > f.left {
		return nil, ErrInflatedTooLarge
	}
	if f.r > 0 && n > len(f.buf)-f.r {
		f.w = copy(f.buf, f.buf[f.r:f.w])
		f.r = 0
	}
	for idle := 0; f.w-f.r < n; {
		if f.w == len(f.buf) {
			f.grow(n)
		}
		got, err := f.zlib.Read(f.buf[f.w:min(len(f.buf), f.w+f.left)])
		f.w += got
		f.left -= got
		if f.w-f.r >= n {
			break
		}
		if err == io.EOF {
			return nil, io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		if got > 0 {
			idle = 0
		} else if idle++; idle == 100 {
			return nil, io.ErrNoProgress
		}
	}
	b := f.buf[f.r : f.r+n]
	f.r += n
	return b, nil
}
