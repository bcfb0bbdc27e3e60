package remoting

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/waymark-mq/waymark/codec"
)

// keptBytes is how much memory for frames is kept from one to the next.
const keptBytes = 1 << 20

// errEnded is the end of a connection between two frames.
var errEnded = errors.New("the peer has closed it")

// frameReader cuts a stream into frames. Its memory grows as bytes come, whatever length a frame claims.
type frameReader struct {
	r        io.Reader
	maxBytes int
	buf      bytes.Buffer
}

// next returns the next frame, good until the next call.
func (f *frameReader) next() (codec.Frame, error) {
	if f.buf.Cap() > keptBytes {
		f.buf = bytes.Buffer{}
	}
	f.buf.Reset()
	const lengthBytes = 4
	switch err := f.fill(lengthBytes); {
	case err == io.EOF && f.buf.Len() == 0:
		return codec.Frame{}, errEnded
	case err != nil:
		return codec.Frame{}, cut(err)
	}
	n, err := codec.FrameLength(f.buf.Bytes(), f.maxBytes)
	if err != nil {
		return codec.Frame{}, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	if err := f.fill(n - lengthBytes); err != nil {
		return codec.Frame{}, cut(err)
	}
	frame, err := codec.ParseFrame(f.buf.Bytes())
	if err != nil {
		return codec.Frame{}, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	return frame, nil
}

func (f *frameReader) fill(n int) error {
	_, err := io.CopyN(&f.buf, f.r, int64(n))
	return err
}

// cut names an end inside a frame.
func cut(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
