package api

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/waymark-mq/waymark/namesrv"
)

type connectionJSON struct {
	ID            uint64   `json:"id"`
	Peer          string   `json:"peer"`
	Via           string   `json:"via,omitempty"` // other end of the socket, if a proxy named the peer
	TLS           bool     `json:"tls"`
	Since         jsonTime `json:"since"`
	EventLoop     int      `json:"eventLoop"`
	Language      string   `json:"language,omitempty"` // left out before the first request
	Version       int32    `json:"version,omitempty"`  // ordinal of Apache's MQVersion
	Changes       bool     `json:"changes"`            // it has asked for a change, or carries a broker's signs of life
	PendingWrites int      `json:"pendingWrites"`
	UnsentBytes   int64    `json:"unsentBytes"`
}

func connectionOf(c namesrv.ConnInfo) connectionJSON {
	j := connectionJSON{
		ID: c.ID, Peer: c.Peer, Via: c.Via, TLS: c.TLS, Since: jsonTime(time.Now().Add(-c.Open)), EventLoop: c.Loop, Changes: c.Writer,
		PendingWrites: c.PendingWrites, UnsentBytes: c.UnsentBytes,
	}
	if c.Identified {
		j.Language, j.Version = c.Language.String(), c.Version
	}
	return j
}

// connections lists open connections by their id.
func (r *request) connections() error {
	after, limit, err := r.numbered()
	if err != nil {
		return err
	}
	conns, more, err := r.src.Connections(r.ctx, after, limit)
	if err != nil {
		return err
	}
	slices.SortFunc(conns, func(a, b namesrv.ConnInfo) int { return cmp.Compare(a.ID, b.ID) })
	var rest struct {
		Next uint64 `json:"next,omitempty"`
	}
	r.begin("connections")
	for _, c := range conns {
		r.item(connectionOf(c))
		if more {
			rest.Next = c.ID
		}
	}
	r.end(rest)
	return nil
}

// connection shows one.
func (r *request) connection() error {
	id, err := strconv.ParseUint(r.name, 10, 64)
	if err != nil {
		return badRequest("connection %q is no number", r.name)
	}
	c, ok, err := r.src.Connection(r.ctx, id)
	if err != nil {
		return err
	}
	if !ok {
		return notFound("no open connection %d", id)
	}
	r.write(connectionOf(c))
	return nil
}
