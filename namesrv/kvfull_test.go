package namesrv

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/internal/raceflag"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/namesrv/storage"
)

// fullKV is a configuration with no room for another value of that length.
func fullKV() (kv storage.KV, value string) {
	kv, value = storage.KV{"n": {}}, strings.Repeat("x", 250<<10)
	for size := 0; size+len(value)+1000 < maxKVBytes; size = kvBytes(kv) {
		kv["n"][fmt.Sprint("k", len(kv["n"]))] = value
	}
	return kv, value
}

// What would make the KV configuration too large is refused; what was there stays, and can be deleted.
func TestFullKVConfiguration(t *testing.T) {
	if raceflag.Enabled {
		t.Skip("reads and writes 16 MiB byte by byte")
	}
	home := t.TempDir()
	stored, value := fullKV()
	mustWrite(t, (&testServer{home: home}).kvPath(), string(storage.AppendKV(nil, stored)))
	s := startIn(t, home)
	c := s.dial()
	c.want(put("n", "more", value), `1 "KV configuration is full"`)
	c.want(put("other", "more", value), `1 "KV configuration is full"`)
	c.wantCode(get("n", "more"), codec.ResponseQueryNotFound)
	c.wantCode(listKV("other"), codec.ResponseQueryNotFound)
	c.want(del("n", "k0"), "0")
	c.wantCode(get("n", "k0"), codec.ResponseQueryNotFound)
	c.want(get("n", "k1"), "0 {value="+value+"}")
}

// A batch is judged request by request, each by what those before it have left.
func TestRoomInKVConfiguration(t *testing.T) {
	stored, value := fullKV()
	put := func(ns, key, value string) core.Command {
		return &core.PutKV{Namespace: ns, Key: key, Value: codec.NullString{S: value, Valid: true}}
	}
	del := func(key string) core.Command { return &core.DeleteKV{Namespace: "n", Key: key} }
	other := strings.Repeat("y", len(value))
	for _, tt := range []struct {
		name    string
		batch   []core.Command
		refused string // r for each that is
	}{
		{"small ones still fit", []core.Command{put("n", "more", value), put("s", "k", "v"), put("n", "s", "v")}, "r.."},
		{"another value of the same length", []core.Command{put("n", "k0", other), put("n", "k0", value)}, ".."},
		{"a longer one", []core.Command{put("n", "k0", other+other)}, "r"},
		{"deletes", []core.Command{del("k0"), del("nope"), del("k0")}, "..."},
		{"room by a delete", []core.Command{put("n", "a", value), del("k0"), put("n", "a", value), put("n", "b", value)}, "r..r"},
		{"room by a null", []core.Command{&core.PutKV{Namespace: "n", Key: "k0"}, put("n", "a", value), put("n", "b", value)}, "..r"},
		{"no room by a refused one", []core.Command{put("n", "a", value), del("a"), put("n", "b", value)}, "r.r"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newTestServer(t, t.TempDir(), Options{Settings: settings.Default(settings.Env{HomeDir: t.TempDir()})})
			p := s.pipe()
			sess := p.Conn().Context.(*session)
			var batch []durable
			for i, c := range tt.batch {
				sess.pending.Add(1)
				batch = append(batch, durable{command: c, session: sess, opaque: int32(i), deed: &deed{}})
			}
			kv := storage.KV{"n": maps.Clone(stored["n"])}
			fits := (&persister{Server: s.Server}).applyFitting(kv, batch)
			got := strings.Repeat("r", len(tt.batch))
			for _, d := range fits {
				got = got[:d.opaque] + "." + got[d.opaque+1:]
			}
			if got != tt.refused {
				t.Errorf("refused %s, want %s", got, tt.refused)
			}
			if n, want := int(sess.pending.Load()), len(fits); n != want {
				t.Errorf("%d pending, want %d", n, want)
			}
			if n := kvBytes(kv); n > maxKVBytes {
				t.Errorf("%d bytes", n)
			}
			answers, _ := p.Feed(nil)
			if n, want := strings.Count(string(answers), "KV configuration is full"), strings.Count(tt.refused, "r"); n != want {
				t.Errorf("%d told, want %d", n, want)
			}
		})
	}
}
