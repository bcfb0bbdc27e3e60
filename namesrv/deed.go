package namesrv

import (
	"log/slog"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/audit"
	"github.com/waymark-mq/waymark/namesrv/settings"
	"github.com/waymark-mq/waymark/netpoll"
)

// deed is a request that changes something, on its way: who sent it, what it is about, and what became of it. It goes with the
// request from goroutine to goroutine. A broker's has one only if there is an audit file.
type deed struct {
	audit.Record
	keys    []settings.Change // of 318
	changed bool
}

// newDeed is the deed of a request. It keeps nothing of the request's memory.
func newDeed(conn *netpoll.Conn, c *codec.Command) *deed {
	return &deed{Record: audit.Record{Code: c.Code, Name: codec.RequestName(c.Code), Peer: peerOf(conn, c), What: whatOf(c)}}
}

func peerOf(conn *netpoll.Conn, c *codec.Command) audit.Peer {
	p := connOf(conn)
	p.Language, p.Version = c.Language.String(), c.Version
	return p
}

// connOf is as much as is known of a peer without its request.
func connOf(conn *netpoll.Conn) audit.Peer {
	p := audit.Peer{From: conn.RemoteAddr(), Via: conn.SocketAddr(), Conn: conn.ID()}
	if p.Via == p.From {
		p.Via = ""
	}
	return p
}

func whatOf(c *codec.Command) *audit.What {
	text := func(name string) string {
		v, _ := c.Field(name)
		return audit.Text(v)
	}
	w := &audit.What{
		Namespace: text("namespace"), Key: text("key"), Topic: text("topic"), Cluster: text("clusterName"), Broker: text("brokerName"),
		BrokerID: text("brokerId"), Addr: text("brokerAddr"),
	}
	if c.Code == codec.RequestUpdateNamesrvConfig {
		w.Body = audit.Text(c.Body)
	}
	return w
}

// edited takes what a command on topics or permissions has changed into the record.
func (d *deed) edited(e *core.Edit) {
	d.changed = true
	d.What.Changed = e.TopicsChanged
	if e.PermsBefore != nil {
		d.Before, d.After = e.PermsBefore, e.PermsAfter
		return
	}
	d.Before, d.After = queuesText(e.Before), queuesText(e.After)
}

// valued takes the value of a KV entry, before and after, into the record.
func (d *deed) valued(before, after codec.NullString) {
	value := func(v codec.NullString) any {
		if !v.Valid {
			return audit.Null
		}
		return audit.Text(v.S)
	}
	d.changed = before != after
	d.Before, d.After = value(before), value(after)
}

// configured takes the settings that were changed into the record.
func (d *deed) configured(changes []settings.Change) {
	d.keys = changes
	before, after := map[string]string{}, map[string]string{}
	for _, c := range changes {
		if !c.Ignored {
			d.changed = true
			before[c.Key], after[c.Key] = audit.Text(c.Old), audit.Text(c.New)
		}
	}
	d.Before, d.After = before, after
}

// maxQueuesTold bounds the queues in a record.
const maxQueuesTold = 64

type queuesRecord struct {
	Queues  []queueRecord `json:"queues"`
	Brokers int           `json:"brokers"` // of which so many queues there are
}

type queueRecord struct {
	Broker string `json:"broker"`
	Read   int32  `json:"read"`
	Write  int32  `json:"write"`
	Perm   int32  `json:"perm"`
}

func queuesText(queues []codec.QueueData) any {
	if queues == nil {
		return audit.Null
	}
	r := queuesRecord{Brokers: len(queues)}
	for _, q := range queues[:min(len(queues), maxQueuesTold)] {
		r.Queues = append(r.Queues, queueRecord{audit.Text(q.BrokerName), q.ReadQueueNums, q.WriteQueueNums, q.Perm})
	}
	return r
}

// attrs are who sent the request and what it is about.
func (d *deed) attrs() []slog.Attr {
	attrs := []slog.Attr{slog.Int("code", int(d.Code)), slog.String("request", d.Name), slog.String("by", d.From), slog.Uint64("conn", d.Conn)}
	for _, a := range []struct{ name, text string }{
		{"namespace", d.What.Namespace}, {"key", d.What.Key}, {"topic", d.What.Topic}, {"cluster", d.What.Cluster}, {"broker", d.What.Broker},
	} {
		if a.text != "" {
			attrs = append(attrs, slog.String(a.name, short(a.text)))
		}
	}
	if d.What.Changed > 0 {
		attrs = append(attrs, slog.Int("topicsChanged", d.What.Changed))
	}
	return attrs
}
