package product

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
)

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name                 string
		props, env           map[string]string
		unit, addrs, wantURL string
	}{
		{"property first", map[string]string{"rocketmq.namesrv.addr": "a:1;b:2"}, map[string]string{"NAMESRV_ADDR": "c:3"}, "center", "a:1 b:2", ""},
		{"environment", nil, map[string]string{"NAMESRV_ADDR": "c:3"}, "center", "c:3", ""},
		{"address server", nil, nil, "center", "", "http://jmenv.tbsite.net:8080/rocketmq/nsaddr-center?nofix=1"},
		{"own domain with port", map[string]string{"rocketmq.namesrv.domain": "d:80", "rocketmq.namesrv.domain.subgroup": "s"}, nil, "", "", "http://d:80/rocketmq/s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := Find(func(n string) string { return c.props[n] }, func(n string) string { return c.env[n] }, c.unit)
			if got := strings.Join(e.addrs, " "); got != c.addrs || e.url != c.wantURL {
				t.Errorf("got %q %q, want %q %q", got, e.url, c.addrs, c.wantURL)
			}
		})
	}
}

// answering listens and answers each connection's first request with code and body.
func answering(t *testing.T, code int32, body string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			head := make([]byte, 4)
			if _, err := io.ReadFull(c, head); err == nil {
				c.Write(codec.AppendFrame(nil, codec.SerializeJSON, &codec.Header{Code: code, Flag: codec.FlagResponse, Opaque: 1}, []byte(body)))
			}
			c.Close()
		}
	}()
	return l.Addr().String()
}

func TestRoute(t *testing.T) {
	const body = `{"brokerDatas":[]}`
	found, missing, failing := answering(t, codec.ResponseSuccess, body), answering(t, codec.ResponseTopicNotExist, ""), answering(t, codec.ResponseSystemError, "")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.String() != "/rocketmq/nsaddr-center?nofix=1" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		io.WriteString(w, found+"\nsecond line")
	}))
	defer server.Close()
	none := func(string) string { return "" }
	domain := func(n string) string {
		if n == "rocketmq.namesrv.domain" {
			return strings.TrimPrefix(server.URL, "http://")
		}
		return ""
	}
	for _, c := range []struct {
		name    string
		env     *Environment
		ok, bad bool
	}{
		{"found", &Environment{addrs: []string{found}}, true, false},
		{"not found", &Environment{addrs: []string{missing, found}}, false, false},
		{"the next one answers", &Environment{addrs: []string{"127.0.0.1:1", failing, found}}, true, false},
		{"nobody answers", &Environment{addrs: []string{"127.0.0.1:1"}}, false, true},
		{"by address server", Find(domain, none, "center"), true, false},
		{"unknown unit", Find(domain, none, "other"), false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok, err := c.env.Route(context.Background(), "T", codec.ServerVersion)
			if ok != c.ok || (err != nil) != c.bad || (ok && string(got) != body) {
				t.Errorf("got %q, %v, %v", got, ok, err)
			}
		})
	}
}
