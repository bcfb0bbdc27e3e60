package api

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/waymark-mq/waymark/namesrv"
)

// peerDiffTime bounds what another nameserver takes to tell what it holds.
const peerDiffTime = 10 * time.Second

type selfJSON struct {
	Name     string  `json:"name"`
	Addr     string  `json:"addr"`
	State    string  `json:"state"`
	Remoting string  `json:"remoting,omitempty"`
	Admin    string  `json:"admin,omitempty"`
	Version  string  `json:"version,omitempty"`
	Routes   *string `json:"routesDigest,omitempty"`
	KV       *string `json:"kvDigest,omitempty"`
	Brokers  int     `json:"brokers"`
	Topics   int     `json:"topics"`
}

type peerJSON struct {
	selfJSON
	Since           seconds  `json:"sinceSeconds"`
	Heard           *seconds `json:"heardSeconds,omitempty"`
	RoutesAgree     *bool    `json:"routesAgree,omitempty"`
	DivergedSeconds *seconds `json:"divergedSeconds,omitempty"`
	KVAgrees        *bool    `json:"kvAgrees,omitempty"`
	WordsWaiting    int      `json:"wordsWaiting"`
}

// peers lists the other nameservers; without peerListenAddress none, and nothing of this one.
func (r *request) peers() error {
	p := r.src.Peers()
	r.begin("peers")
	if !p.On {
		r.end(nil)
		return nil
	}
	for i := range p.Members {
		m := &p.Members[i]
		j := peerJSON{
			selfJSON: selfJSON{Name: m.Name, Addr: m.Addr, State: m.State.String(), Remoting: m.Remoting, Admin: m.Admin, Version: m.Version},
			Since:    seconds(m.Since), WordsWaiting: m.Queue,
		}
		if !m.Alive {
			if j.State = "gone"; m.Left {
				j.State = "left"
			}
		}
		if m.Heard >= 0 {
			heard := seconds(m.Heard)
			j.Heard = &heard
			j.digest(m.Digest.Routes, m.Digest.KV, m.Digest.Brokers, m.Digest.Topics)
		}
		if m.Comparable {
			agree, diverged, kv := m.Digest.Routes == p.Digest.Routes, seconds(m.Differs), !m.KVDiffers
			j.RoutesAgree, j.DivergedSeconds, j.KVAgrees = &agree, &diverged, &kv
		}
		r.item(j)
	}
	self := selfJSON{Name: p.Name, Addr: p.Addr, State: p.Self.State.String(), Remoting: p.Self.Remoting, Admin: p.Self.Admin, Version: p.Self.Version}
	self.digest(p.Digest.Routes, p.Digest.KV, p.Digest.Brokers, p.Digest.Topics)
	r.end(struct {
		Self selfJSON `json:"self"`
	}{self})
	return nil
}

func (j *selfJSON) digest(routes, kv uint64, brokers, topics int) {
	r, k := fmt.Sprintf("%016x", routes), fmt.Sprintf("%016x", kv)
	j.Routes, j.KV, j.Brokers, j.Topics = &r, &k, brokers, topics
}

type differenceJSON struct {
	Name      string   `json:"name,omitempty"`
	OnlyHere  []string `json:"onlyHere"`
	OnlyThere []string `json:"onlyThere"`
	Differ    []string `json:"differ"`
	More      int      `json:"more,omitempty"`
}

type peerDiffJSON struct {
	Equal      bool             `json:"equal"`
	Clusters   differenceJSON   `json:"clusters"`
	Brokers    differenceJSON   `json:"brokers"`
	Topics     []differenceJSON `json:"topicsOfBrokers"`
	Namespaces differenceJSON   `json:"namespaces"`
	Keys       []differenceJSON `json:"keysOfNamespaces"`
}

// peerDiff asks another nameserver what it holds, and tells where that is something else than here.
func (r *request) peerDiff() error {
	ctx, cancel := context.WithTimeout(r.ctx, peerDiffTime)
	defer cancel()
	d, err := r.src.PeerDiff(ctx, r.name)
	if errors.Is(err, namesrv.ErrNoPeer) {
		return notFound("no nameserver %q that is reached", r.name)
	}
	if err != nil {
		return err
	}
	j := peerDiffJSON{
		Equal:    d.Brokers.None() && d.Namespaces.None() && d.Clusters.None(),
		Clusters: differenceJSON{"", list(d.Clusters.OnlyHere), list(d.Clusters.OnlyThere), list(d.Clusters.Other), d.Clusters.More},
		Brokers:  differenceJSON{"", list(d.Brokers.OnlyHere), list(d.Brokers.OnlyThere), list(d.Brokers.Other), d.Brokers.More},
		Topics:   parts(d.Topics), Keys: parts(d.Keys),
		Namespaces: differenceJSON{"", list(d.Namespaces.OnlyHere), list(d.Namespaces.OnlyThere), list(d.Namespaces.Other), d.Namespaces.More},
	}
	r.write(j)
	return nil
}

func parts(of []namesrv.PartDiff) []differenceJSON {
	all := make([]differenceJSON, 0, len(of))
	for i := range of {
		p := &of[i]
		all = append(all, differenceJSON{p.Name, list(p.OnlyHere), list(p.OnlyThere), list(p.Other), p.More})
	}
	return all
}

// list is never null.
func list(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}
