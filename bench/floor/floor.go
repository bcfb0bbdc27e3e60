// Package floor is the least that a server on gnet can do: it cuts frames, looks at nothing in them, and answers each
// with the same bytes. What the nameserver costs more than this is what it does itself.
package floor

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/panjf2000/gnet/v2"
)

const lengthBytes = 4 // of a frame's length, which doesn't count itself

// Run serves on addr (host:port) until ctx ends. Every frame is answered with size bytes.
func Run(ctx context.Context, addr string, loops, size int) error {
	answer, err := Answer(size)
	if err != nil {
		return err
	}
	s := &server{answer: answer, started: make(chan gnet.Engine, 1)}
	ended := make(chan error, 1)
	go func() { ended <- gnet.Run(s, "tcp://"+addr, gnet.WithNumEventLoop(loops)) }()
	select {
	case err := <-ended:
		return fmt.Errorf("floor: %w", err)
	case engine := <-s.started:
		<-ctx.Done()
		if err := engine.Stop(context.Background()); err != nil {
			return fmt.Errorf("floor: %w", err)
		}
		<-ended
		return nil
	}
}

// header is that of a successful answer. Its opaque is nobody's.
const header = `{"code":0,"flag":1,"language":"JAVA","opaque":0,"serializeTypeCurrentRPC":"JSON","version":513}`

// MinSize is the size of an answer without a body.
const MinSize = 2*lengthBytes + len(header)

// Answer is the frame of size bytes that every request is answered with.
func Answer(size int) ([]byte, error) {
	if size < MinSize {
		return nil, fmt.Errorf("floor: an answer of %d bytes, less than %d", size, MinSize)
	}
	b := make([]byte, size)
	binary.BigEndian.PutUint32(b, uint32(size-lengthBytes))
	binary.BigEndian.PutUint32(b[lengthBytes:], uint32(len(header)))
	copy(b[2*lengthBytes:], header)
	return b, nil
}

type server struct {
	gnet.BuiltinEventEngine
	answer  []byte
	started chan gnet.Engine
	outputs sync.Map // of each loop: gnet.EventLoop → *output
}

// output is where a loop puts the answers to one read together. It is reused.
type output struct{ bytes []byte }

// conn is a connection's state, for its loop.
type conn struct {
	out  *output
	skip int // bytes of a frame that are still to come
}

func (s *server) OnBoot(e gnet.Engine) gnet.Action {
	s.started <- e
	return gnet.None
}

func (s *server) OnOpen(g gnet.Conn) ([]byte, gnet.Action) {
	out, _ := s.outputs.LoadOrStore(g.EventLoop(), new(output))
	g.SetContext(&conn{out: out.(*output)})
	return nil, gnet.None
}

func (s *server) OnTraffic(g gnet.Conn) gnet.Action {
	c := g.Context().(*conn)
	b, _ := g.Peek(-1)
	frames, used, skip := cut(b, c.skip)
	c.skip = skip
	if used > 0 {
		_, _ = g.Discard(used)
	}
	switch {
	case skip < 0:
		return gnet.Close
	case frames == 1:
		_, _ = g.Write(s.answer)
	case frames > 1:
		c.out.bytes = c.out.bytes[:0]
		for range frames {
			c.out.bytes = append(c.out.bytes, s.answer...)
		}
		_, _ = g.Write(c.out.bytes)
	}
	return gnet.None
}

// cut counts the frames that end within b. Of one that doesn't, all is taken but its length field if that is not whole; skip is what
// is still to come of it, so that gnet never has to keep a large frame together. A negative skip says that this is no stream of frames.
func cut(b []byte, skip int) (frames, used, stillToSkip int) {
	size := len(b)
	for {
		if skip > 0 {
			n := min(skip, len(b))
			skip -= n
			b = b[n:]
			if skip > 0 {
				return frames, size - len(b), skip
			}
			frames++
		}
		if len(b) < lengthBytes {
			return frames, size - len(b), 0
		}
		length := int32(binary.BigEndian.Uint32(b))
		if length <= 0 {
			return frames, size, -1
		}
		skip = lengthBytes + int(length)
	}
}
