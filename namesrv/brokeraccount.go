package namesrv

import (
	"fmt"
	"strconv"
	"time"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
	"github.com/waymark-mq/waymark/namesrv/audit"
)

// What the audit file says of a broker before and after a change. Bounded: a fleet that goes at once leaves thousands of records.
const (
	maxMembersTold = 16
	maxNameTold    = 255
)

// brokerRecord is how a broker name, and one address of it, stood in the table.
type brokerRecord struct {
	// Addrs are the addresses by id, at most maxMembersTold; Members is how many there are if there are more.
	Addrs   map[string]string `json:"addrs"`
	Members int               `json:"members,omitempty"`
	Zone    *string           `json:"zone,omitempty"`
	Acting  bool              `json:"actingMaster,omitempty"`
	// Of the address's own registration under this name, if there was one.
	DataVersion   *versionRecord `json:"dataVersion,omitempty"`
	HAServerAddr  string         `json:"haServerAddr,omitempty"`
	TimeoutMillis int64          `json:"timeoutMillis,omitempty"`
	// Queues are those of the first few topics that were changed; Digest is of all of them: see core.BrokerState.
	Queues []topicRecord `json:"queues,omitempty"`
	Digest string        `json:"queuesDigest,omitempty"`
}

type versionRecord struct {
	StateVersion int64  `json:"stateVersion"`
	Timestamp    int64  `json:"timestamp"`
	Counter      *int64 `json:"counter"`
}

type topicRecord struct {
	Topic   string `json:"topic"`
	Read    int32  `json:"read"`
	Write   int32  `json:"write"`
	Perm    int32  `json:"perm"`
	SysFlag int32  `json:"sysFlag,omitempty"`
}

// brokerEdited takes what an event of a broker has changed into its record.
func brokerEdited(r *audit.Record, e *core.BrokerEdit) {
	r.Before = brokerText(e.Before, e.Topics, func(t core.TopicEdit) *core.QueueState { return t.Before })
	r.After = brokerText(e.After, e.Topics, func(t core.TopicEdit) *core.QueueState { return t.After })
}

// brokerText is a state as records have it: null if neither the name nor the registration was there.
func brokerText(s core.BrokerState, topics []core.TopicEdit, queue func(core.TopicEdit) *core.QueueState) any {
	if s.Group == nil && s.Live == nil {
		return audit.Null
	}
	r := brokerRecord{Addrs: map[string]string{}}
	if g := s.Group; g != nil {
		for _, a := range g.Addrs[:min(len(g.Addrs), maxMembersTold)] {
			r.Addrs[strconv.FormatInt(a.BrokerID, 10)] = audit.Cut(a.Addr, maxNameTold)
		}
		if len(g.Addrs) > maxMembersTold {
			r.Members = len(g.Addrs)
		}
		if r.Acting = g.ActingMaster; g.ZoneName.Valid {
			zone := audit.Cut(g.ZoneName.S, maxNameTold)
			r.Zone = &zone
		}
	}
	if l := s.Live; l != nil {
		r.DataVersion = versionText(l.DataVersion)
		r.HAServerAddr, r.TimeoutMillis = audit.Cut(l.HAServerAddr.S, maxNameTold), l.TimeoutNanos/int64(time.Millisecond)
	}
	for _, t := range topics {
		if q := queue(t); q != nil {
			r.Queues = append(r.Queues, topicRecord{audit.Cut(t.Topic, maxNameTold), q.Read, q.Write, q.Perm, q.SysFlag})
		}
	}
	if s.Digest != 0 {
		r.Digest = fmt.Sprintf("%016x", s.Digest)
	}
	return r
}

func versionText(v codec.DataVersion) *versionRecord {
	r := &versionRecord{StateVersion: v.StateVersion, Timestamp: v.Timestamp}
	if !v.NullCounter {
		r.Counter = &v.Counter
	}
	return r
}
