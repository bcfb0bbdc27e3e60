package httpside

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// Server is what /api/v1/server says.
type Server struct {
	State       string    `json:"state"`
	Address     string    `json:"address"` // where it listens; "" before the start
	StartedAt   time.Time `json:"startedAt"`
	UpSeconds   float64   `json:"upSeconds"`
	Brokers     int       `json:"brokers"`
	Topics      int       `json:"topics"`
	Connections int       `json:"connections"`
	UnsentBytes int64     `json:"unsentBytes"`
	LastEvent   uint64    `json:"lastEvent"`
	Build       struct {
		Version  string `json:"version"`
		Revision string `json:"revision"`
	} `json:"build"`
	Drain *struct {
		Rounds int64 `json:"rounds"`
		Ended  int64 `json:"endedConnections"`
	} `json:"drain"`
}

func (s *Server) missing() string {
	switch {
	case s.State == "":
		return "state"
	case s.StartedAt.IsZero():
		return "startedAt"
	}
	return ""
}

// Server asks for the server as a whole.
func (c *Client) Server(ctx context.Context) (*Server, error) {
	s := &Server{}
	_, err := c.get(ctx, "server", nil, s)
	return s, err
}

// Member is one address of a broker name.
type Member struct {
	ID             int64   `json:"id"`
	Address        string  `json:"address"`
	AddressDoubt   string  `json:"addressDoubt,omitempty"`
	SilentSeconds  float64 `json:"silentSeconds,omitempty"`
	Suspect        bool    `json:"suspect,omitempty"`
	Provisional    bool    `json:"provisional,omitempty"`
	TimeoutSeconds float64 `json:"timeoutSeconds,omitempty"`
	Owner          *struct {
		Peer string `json:"peer"`
		Open bool   `json:"open"`
	} `json:"owner,omitempty"`
	Probe        *Probe `json:"probe,omitempty"`
	Registration *struct {
		FirstAt    time.Time `json:"firstAt"`
		At         time.Time `json:"at"`
		Peer       string    `json:"peer"`
		Topics     int       `json:"topics"`
		Applied    int64     `json:"applied"`
		Recognised int64     `json:"recognised"`
	} `json:"registration,omitempty"`
}

// Probe is what probes and peers say of a broker.
type Probe struct {
	Suspect     bool     `json:"suspect"`
	Failures    int      `json:"failures"`
	LastFailure string   `json:"lastFailure,omitempty"`
	NotProbed   string   `json:"notProbed,omitempty"`
	Accusers    []string `json:"accusers,omitempty"`
}

// Broker is one broker name.
type Broker struct {
	Name         string   `json:"name"`
	Cluster      string   `json:"cluster"`
	Zone         string   `json:"zone,omitempty"`
	ActingMaster bool     `json:"actingMaster"`
	Topics       int      `json:"topics,omitempty"`
	Members      []Member `json:"members"`
	Why          Why      `json:"why,omitzero"`
}

func (b *Broker) missing() string {
	if b.Members == nil { // its name may be any, the empty one too
		return "members"
	}
	return ""
}

// Broker asks for one broker name. raw is what was sent.
func (c *Client) Broker(ctx context.Context, name string) (b *Broker, raw json.RawMessage, err error) {
	b = &Broker{}
	raw, err = c.get(ctx, "brokers/"+pathOf(name), nil, b)
	if err == nil {
		err = c.of(b.Name, name)
	}
	return b, raw, err
}

// of is an error if an answer is of something else than was asked for. A name that is no UTF-8 isn't sent as it is.
func (c *Client) of(got, want string) error {
	if got != want && utf8.ValidString(want) {
		return fmt.Errorf("%s: %w: asked for %q it answers of %q", c.addr, ErrNotOurs, want, got)
	}
	return nil
}

// Why has the latest event of each sort; nil: none is remembered.
type Why struct {
	LastChange     *Event `json:"lastChange"`
	LastRefused    *Event `json:"lastRefused"`
	LastRemoved    *Event `json:"lastRemoved"`
	LastPermission *Event `json:"lastPermission"`
}

// Topic is a topic's route.
type Topic struct {
	Topic     string  `json:"topic"`
	Queues    []Queue `json:"queues"`
	OrderConf string  `json:"orderConf,omitempty"`
}

func (t *Topic) missing() string {
	if t.Queues == nil {
		return "queues"
	}
	return ""
}

// Topic asks for a topic's route. raw is what was sent.
func (c *Client) Topic(ctx context.Context, name string) (t *Topic, raw json.RawMessage, err error) {
	t = &Topic{}
	raw, err = c.get(ctx, "topics/"+pathOf(name), nil, t)
	if err == nil {
		err = c.of(t.Topic, name)
	}
	return t, raw, err
}

// Queue is a broker name's share of a topic.
type Queue struct {
	Broker      string   `json:"broker"`
	Cluster     string   `json:"cluster"`
	ReadQueues  int32    `json:"readQueues"`
	WriteQueues int32    `json:"writeQueues"`
	Perm        int32    `json:"perm"`
	Members     []Member `json:"members"`
	Why         Why      `json:"why,omitzero"`
}

// Event is what happened once.
type Event struct {
	Seq           uint64    `json:"seq"`
	Time          time.Time `json:"time"`
	Kind          string    `json:"kind"`
	Text          string    `json:"text"`
	Cluster       string    `json:"cluster,omitempty"`
	Broker        string    `json:"broker,omitempty"`
	ID            *int64    `json:"id,omitempty"`
	Address       string    `json:"address,omitempty"`
	Connection    uint64    `json:"connection,omitempty"`
	Peer          string    `json:"peer,omitempty"`
	Topics        int       `json:"topics,omitempty"`
	TopicsChanged int       `json:"topicsChanged,omitempty"`
	TopicsGone    int       `json:"topicsGone,omitempty"`
	Other         string    `json:"other,omitempty"`
	Topic         string    `json:"topic,omitempty"`
	Namespace     string    `json:"namespace,omitempty"`
	Key           string    `json:"key,omitempty"`
	Detail        string    `json:"detail,omitempty"`
	NeedsRestart  bool      `json:"needsRestart,omitempty"` // of config_changed: the server works with the former value until then

	Raw json.RawMessage `json:"-"` // as sent
}

// UnmarshalJSON implements json.Unmarshaler: it keeps what was sent.
func (e *Event) UnmarshalJSON(b []byte) error {
	type plain Event
	err := json.Unmarshal(b, (*plain)(e))
	e.Raw = append(json.RawMessage(nil), b...)
	return err
}
