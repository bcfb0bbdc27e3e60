package harness

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// answerAll answers every request on every connection with its own code as the answer's code, in a JSON header.
func answerAll(t *testing.T) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp4", Loopback(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerConn(conn)
		}
	}()
	return listener.Addr().String()
}

func answerConn(conn net.Conn) {
	defer conn.Close()
	for {
		f, err := readFrame(conn)
		if err != nil {
			return
		}
		var header struct{ Code, Opaque int32 }
		if f.kind == binaryHeader {
			code, opaque, _, _, _ := parseBinaryHeader(f.header)
			header.Code, header.Opaque = int32(code), opaque
		} else if json.Unmarshal(f.header, &header) != nil {
			return
		}
		answer, _ := json.Marshal(map[string]any{"code": header.Code, "opaque": header.Opaque})
		if _, err := conn.Write(frameOf(0, answer, "body")); err != nil {
			return
		}
	}
}

func frameOf(kind byte, header []byte, body string) []byte {
	frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(header)+len(body)))
	frame = binary.BigEndian.AppendUint32(frame, uint32(kind)<<24|uint32(len(header)))
	return append(append(frame, header...), body...)
}

func TestTapKeepsJSONExchange(t *testing.T) {
	tap, err := NewTap(answerAll(t))
	if err != nil {
		t.Fatal(err)
	}
	defer tap.Close()
	asker, err := Dial(tap.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer asker.Close()
	if _, err := asker.Ask(105, map[string]string{"topic": "T"}); err != nil {
		t.Fatal(err)
	}
	got := tap.Exchanges(105)
	if len(got) != 1 || got[0].Binary || got[0].Fields["topic"] != "T" || got[0].Answer == nil {
		t.Fatalf("kept %+v", got)
	}
	if got[0].Answer.Code != 105 || string(got[0].Answer.Body) != "body" {
		t.Errorf("kept the answer %+v", got[0].Answer)
	}
	if other := tap.Exchanges(103); other != nil {
		t.Errorf("kept %+v, which nobody sent", other)
	}
}

func TestTapKeepsBinaryExchange(t *testing.T) {
	tap, err := NewTap(answerAll(t))
	if err != nil {
		t.Fatal(err)
	}
	defer tap.Close()
	conn, err := net.Dial("tcp4", tap.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	header := []byte{
		0, 103, // code
		0, 2, 1, // language, version
		0, 0, 0, 7, // opaque
		0, 0, 0, 0, // flag
		0, 0, 0, 2, 'h', 'i', // remark
		0, 0, 0, 9, 0, 1, 'k', 0, 0, 0, 2, 'v', 'w', // fields
	}
	if _, err := conn.Write(frameOf(binaryHeader, header, "topics")); err != nil {
		t.Fatal(err)
	}
	if _, err := readFrame(conn); err != nil {
		t.Fatal(err)
	}
	got := tap.Exchanges(103)
	if len(got) != 1 || !got[0].Binary || got[0].Fields["k"] != "vw" || string(got[0].Body) != "topics" {
		t.Fatalf("kept %+v", got)
	}
	if got[0].Answer == nil || got[0].Answer.Opaque != 7 {
		t.Errorf("kept the answer %+v", got[0].Answer)
	}
}

func TestTapPassesOnTheEnd(t *testing.T) {
	server, err := net.Listen("tcp4", Loopback(0))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	tap, err := NewTap(server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer tap.Close()
	peer, err := net.Dial("tcp4", tap.Addr)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := server.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	peer.Close()
	_ = conn.SetReadDeadline(time.Now().Add(askLimit))
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("server read %d bytes, error %v after the peer's end", n, err)
	}
}

func TestBinaryHeaderCutShort(t *testing.T) {
	whole := []byte{0, 103, 0, 2, 1, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 'k', 0, 0, 0, 2, 'v', 'w'}
	if _, opaque, _, fields, err := parseBinaryHeader(whole); err != nil || opaque != 7 || fields["k"] != "vw" {
		t.Fatalf("opaque %d, fields %v, error %v", opaque, fields, err)
	}
	for _, n := range []int{0, 1, 5, 9, 16, 20, 22, 24, 29} {
		if _, _, _, _, err := parseBinaryHeader(whole[:n]); err == nil {
			t.Errorf("%d of %d bytes are accepted", n, len(whole))
		}
	}
}
