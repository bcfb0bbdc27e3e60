package harness

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
)

// serveOnce answers one request on a loopback connection with a header made from the request's opaque, and a body.
func serveOnce(t *testing.T, header func(opaque int32) string, body string) *Asker {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		var prefix [8]byte
		if _, err := io.ReadFull(conn, prefix[:]); err != nil {
			return
		}
		rest := make([]byte, binary.BigEndian.Uint32(prefix[:4])-4)
		if _, err := io.ReadFull(conn, rest); err != nil {
			return
		}
		var asked askHeader
		if err := json.Unmarshal(rest, &asked); err != nil {
			return
		}
		text := header(asked.Opaque)
		frame := binary.BigEndian.AppendUint32(nil, uint32(4+len(text)+len(body)))
		frame = binary.BigEndian.AppendUint32(frame, uint32(len(text)))
		_, _ = conn.Write(append(append(frame, text...), body...))
	}()
	asker, err := Dial(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		asker.Close()
		_ = listener.Close()
		<-done
	})
	return asker
}

func answer(code string) func(int32) string {
	return func(opaque int32) string {
		text, _ := json.Marshal(opaque)
		return `{"code":` + code + `,"flag":1,"opaque":` + string(text) + `,"remark":"why"}`
	}
}

func TestAsker(t *testing.T) {
	const clusters = `{"brokerAddrTable":{"b":{"brokerAddrs":{0:"127.0.0.1:9"},"brokerName":"b"}},"clusterAddrTable":{"c":["b"]}}`
	hasRoute := func(a *Asker) (bool, error) { return a.HasRoute("T") }
	hasBroker := func(name, addr string) func(*Asker) (bool, error) {
		return func(a *Asker) (bool, error) { return a.HasBroker(name, addr) }
	}
	for _, c := range []struct {
		name    string
		header  func(int32) string
		body    string
		ask     func(*Asker) (bool, error)
		want    bool
		wantErr string
	}{
		{"route", answer("0"), "{}", hasRoute, true, ""},
		{"no route", answer("17"), "", hasRoute, false, ""},
		{"busy", answer("2"), "", hasRoute, false, `code 2, remark "why"`},
		{"broker", answer("0"), clusters, hasBroker("b", "127.0.0.1:9"), true, ""},
		{"broker at another address", answer("0"), clusters, hasBroker("b", "127.0.0.1:90"), false, ""},
		{"another broker", answer("0"), clusters, hasBroker("bb", "127.0.0.1:9"), false, ""},
		{"answer to another question", func(int32) string { return `{"code":0,"opaque":77}` }, "", hasRoute, false, "opaque 77"},
		{"no JSON", func(int32) string { return `{` }, "", hasRoute, false, "header"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.ask(serveOnce(t, c.header, c.body))
			if got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
			if c.wantErr == "" && err != nil || c.wantErr != "" && (err == nil || !strings.Contains(err.Error(), c.wantErr)) {
				t.Errorf("error %v, want one with %q", err, c.wantErr)
			}
		})
	}
}
