package namesrv

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/audit"
	"github.com/waymark-mq/waymark/namesrv/peers"
	"github.com/waymark-mq/waymark/namesrv/storage"
)

const (
	// syncPatience is how long a start waits for the KV configuration of another nameserver. It goes on looking for one then, while it serves.
	syncPatience = 5 * time.Second
	// syncTogether is how long it waits at the least where all that are reached start as well: none of them will be ready before somebody goes on.
	syncTogether = time.Second
	// syncLimit bounds what one nameserver takes to tell its KV configuration.
	syncLimit = 30 * time.Second
	// syncPause is how long nobody is looked for, if none is ready; syncSoon, if one hasn't answered; syncAgain, if what it has couldn't be taken over.
	syncPause = 200 * time.Millisecond
	syncSoon  = time.Second
	syncAgain = 30 * time.Second
)

// startKVSync takes over the KV namespaces that aren't here, from the first other nameserver that is ready, once. It returns when that is done, after
// syncPatience, or when a whole fleet starts.
func (s *Server) startKVSync() {
	ctx, stop := context.WithCancel(context.Background())
	s.peering.syncStop = stop
	done := make(chan struct{})
	s.peering.syncing.Go(func() {
		defer close(done)
		s.syncKV(ctx)
	})
	began := time.Now()
	for {
		select {
		case <-done:
			return
		case <-time.After(syncPause):
		}
		if waited := time.Since(began); !worthWaiting(waited, s.peering.group.Members()) {
			s.logger.Info("kvSync: no other nameserver has told its KV configuration yet; the start goes on without, and it is asked for meanwhile",
				"waited", waited.Round(syncPause))
			return
		}
	}
}

// worthWaiting reports whether one of the others may still tell its KV configuration before this one starts.
func worthWaiting(waited time.Duration, others []peers.Member) bool {
	reached := slices.ContainsFunc(others, func(m peers.Member) bool { return m.Alive })
	ready := slices.ContainsFunc(others, func(m peers.Member) bool { return m.Alive && m.State != peers.Starting && m.State != peers.Leaving })
	return waited < syncTogether || waited < syncPatience && (ready || !reached)
}

// syncKV asks one nameserver after another until one has told.
func (s *Server) syncKV(ctx context.Context) {
	for {
		wait := syncPause
		for _, from := range s.readyPeers() {
			err := s.syncKVFrom(ctx, from)
			if err == nil || ctx.Err() != nil {
				return
			}
			if wait = syncSoon; errors.Is(err, errNotFilled) {
				wait = syncAgain
			}
			s.logger.Warn("kvSync: KV configuration not taken over", "peer", from, "error", err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// readyPeers are those whose KV configuration counts, by name.
func (s *Server) readyPeers() (names []string) {
	for _, m := range s.peering.group.Members() {
		if m.Alive && m.Comparable && m.State != peers.Leaving {
			names = append(names, m.Name)
		}
	}
	return names
}

// syncKVFrom takes over the namespaces of one nameserver that aren't here.
func (s *Server) syncKVFrom(ctx context.Context, from string) error {
	ctx, cancel := context.WithTimeout(ctx, syncLimit)
	defer cancel()
	namespaces, _, err := s.peering.group.List(ctx, from, peers.Query{What: peers.Namespaces})
	if err != nil {
		return err
	}
	fill := &kvFill{from: from, kv: storage.KV{}, done: make(chan error, 1)}
	for _, ns := range namespaces {
		if s.table.Load().KVEntries(ns.Name) != nil {
			continue
		}
		entries, ok, err := s.peering.group.List(ctx, from, peers.Query{What: peers.Entries, Of: ns.Name})
		if err != nil {
			return err
		}
		if !ok || len(entries) == 0 {
			continue
		}
		values := map[string]string{}
		for _, e := range entries {
			values[e.Name] = e.Value
		}
		fill.kv[ns.Name] = values
		if kvBytes(fill.kv) > maxKVBytes {
			return errNotFilled
		}
	}
	if len(fill.kv) == 0 {
		s.logger.Info("kvSync: no KV namespace of the other nameserver is missing here", "peer", from, "namespaces", len(namespaces))
		return nil
	}
	s.durables.push(durable{fill: fill})
	select {
	case err := <-fill.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// kvFill are namespaces that another nameserver has, on their way to the persister.
type kvFill struct {
	from string
	kv   storage.KV
	done chan error // one value, once it is on disk or has failed
}

var errNotFilled = errors.New("namesrv: the KV configuration would be full, or its file can't be written")

// fillKV makes durable, and passes on, the namespaces that aren't there at all: each as if an operator had put its entries.
func (p *persister) fillKV(f *kvFill) {
	var batch []durable
	for _, ns := range slices.Sorted(maps.Keys(f.kv)) {
		if _, there := p.kv[ns]; there {
			continue
		}
		for _, key := range slices.Sorted(maps.Keys(f.kv[ns])) {
			batch = append(batch, durable{
				command: &core.PutKV{By: core.Peer{Addr: f.from}, Namespace: ns, Key: key, Value: codec.NullString{S: f.kv[ns][key], Valid: true}},
				deed:    fillDeed(f.from, ns, key), asked: asked{oneway: true},
			})
		}
	}
	candidate := storage.KV{}
	maps.Copy(candidate, f.kv)
	maps.Copy(candidate, p.kv)
	if kvBytes(candidate) > maxKVBytes {
		f.done <- errNotFilled
		return
	}
	before := len(p.kv)
	if len(batch) > 0 {
		p.writeKV(batch)
	}
	if len(batch) > 0 && len(p.kv) == before {
		f.done <- errNotFilled
		return
	}
	p.logger.Info("kvSync: KV namespaces taken over from another nameserver", "peer", f.from, "namespaces", len(p.kv)-before, "entries", len(batch))
	f.done <- nil
}

// fillDeed accounts for an entry that another nameserver had.
func fillDeed(from, ns, key string) *deed {
	return &deed{Record: audit.Record{
		Code: codec.RequestPutKVConfig, Name: codec.RequestName(codec.RequestPutKVConfig), Peer: audit.Peer{From: "nameserver " + from},
		What: &audit.What{Namespace: audit.Text(ns), Key: audit.Text(key)},
	}}
}
