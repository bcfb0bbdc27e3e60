package core_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/conformance"
	"github.com/waymark-mq/waymark/core"
)

// receiver is the least that can stand between recorded requests and the table:
// codec reads them, they become commands and reads, and what comes back is put
// in the form of the recording.
type receiver struct {
	*realTables
	now      int64 // a millisecond passes with each step
	conns    map[string]core.ConnID
	lastConn core.ConnID
	cmd      codec.Command // the request in hand
	effects  []core.Effect // of the last command
}

func newReceiver(s core.Settings) *receiver {
	return &receiver{realTables: newRealTables(s), conns: map[string]core.ConnID{}}
}

// wallMillis stands for the wall clock; it shows only in a DataVersion that has no time.
const wallMillis = 1_700_000_000_000

// answer is what a request came to.
type answer struct {
	none   bool // one-way
	closed bool
	code   int32
	remark string
	ext    map[string]string
	body   string
	// fromTable false: the receiver answers what the table was not asked for, such as
	// a body that can't be decoded. Its remark and fields are not judged here.
	fromTable bool
}

// conn is the id of a named connection, a new one if it isn't open.
func (r *receiver) conn(name string) core.ConnID {
	c, open := r.conns[name]
	if !open {
		r.lastConn++
		c = r.lastConn
		r.conns[name] = c
	}
	return c
}

// end ends the named connection.
func (r *receiver) end(name string) {
	if c, open := r.conns[name]; open {
		r.do(&core.EndConnection{Conn: c})
		delete(r.conns, name)
	}
}

// do applies one command.
func (r *receiver) do(c core.Command) core.Result {
	var results []core.Result
	results, r.effects = r.Step(r.now, []core.Command{c})
	return results[0]
}

// play hands in one recorded request. An error says that it could not be built.
func (r *receiver) play(s *conformance.Step) (answer, error) {
	r.now += 1_000_000
	frame, err := frameOf(s)
	if err != nil {
		return answer{}, err
	}
	conn := r.conn(s.Conn)
	if err := r.cmd.Parse(frame); err != nil {
		r.end(s.Conn)
		return answer{closed: true}, nil
	}
	if r.cmd.IsResponse() {
		return answer{none: true}, nil
	}
	a := r.handle(conn)
	a.none = r.cmd.IsOneway()
	return a, nil
}

func bodyOf(s *conformance.Step) ([]byte, error) {
	if s.BodyB64 != "" {
		return base64.StdEncoding.DecodeString(s.BodyB64)
	}
	return []byte(s.Body), nil
}

// versionOf is the sender's version; a step that names none has that of most.
func versionOf(s *conformance.Step) int32 { return cmp.Or(s.Version, 477) }

// frameOf is the frame of a step as the parser of headers takes it.
func frameOf(s *conformance.Step) (codec.Frame, error) {
	body, err := bodyOf(s)
	if err != nil {
		return codec.Frame{}, fmt.Errorf("body: %w", err)
	}
	if s.Header != "" {
		return codec.Frame{Type: codec.SerializeType(s.Type), Header: []byte(s.Header), Body: body}, nil
	}
	h := codec.Header{Code: s.Code, Flag: s.Flag, Version: versionOf(s)}
	if s.Ext != nil {
		h.ExtFields = []codec.ExtField{}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Ext)) {
		h.ExtFields = append(h.ExtFields, codec.ExtField{Name: name, Value: s.Ext[name]})
	}
	return codec.ParseFrame(codec.AppendFrame(nil, codec.SerializeType(s.Type), &h, body))
}

func (r *receiver) field(name string) codec.NullString {
	v, ok := r.cmd.Field(name)
	return codec.NullString{S: string(v), Valid: ok}
}

// orNull is a field as Java prints it.
func (r *receiver) orNull(name string) string {
	if v := r.field(name); v.Valid {
		return v.S
	}
	return "null"
}

// refused is an answer that the receiver gives by itself.
func refused() answer { return answer{code: codec.ResponseSystemError} }

// done is the table's answer of code 0 with a body.
func done[T string | []byte](body T) answer { return answer{body: string(body), fromTable: true} }

// read answers the requests that ask the snapshot.
func (r *receiver) read() answer {
	switch r.cmd.Code {
	case codec.RequestGetRouteInfoByTopic:
		return r.readRoute()
	case codec.RequestGetBrokerClusterInfo:
		return done(r.ClusterInfo())
	case codec.RequestGetAllTopicListFromNameserver:
		return done(r.TopicList())
	case codec.RequestGetTopicsByCluster:
		return done(r.TopicsByCluster(r.field("cluster").S))
	case codec.RequestGetSystemTopicListFromNS:
		return done(r.SystemTopics())
	case codec.RequestGetUnitTopicList, codec.RequestGetHasUnitSubTopicList, codec.RequestGetHasUnitSubUnunitTopicList:
		return done(r.UnitTopics(int(r.cmd.Code)))
	case codec.RequestGetBrokerMemberGroup:
		a := done(r.MemberGroup(r.field("clusterName"), r.field("brokerName")))
		a.remark = "not set any response code"
		return a
	case codec.RequestGetKVConfig:
		ns, key := r.field("namespace"), r.field("key")
		if v, ok := r.KV(ns.S, key.S); ok && ns.Valid && key.Valid {
			return answer{ext: map[string]string{"value": v}, fromTable: true}
		}
		return r.noConfig(r.orNull("namespace") + " Key: " + r.orNull("key"))
	case codec.RequestGetKVListByNamespace:
		ns := r.field("namespace")
		if table, ok := r.KVTable(ns.S); ok && ns.Valid {
			return done(table)
		}
		return r.noConfig(r.orNull("namespace"))
	}
	return answer{code: codec.ResponseRequestCodeNotSupported}
}

func (r *receiver) noConfig(what string) answer {
	return answer{code: codec.ResponseQueryNotFound, remark: "No config item, Namespace: " + what, fromTable: true}
}

func (r *receiver) readRoute() answer {
	var o core.RouteOptions
	if standard, _ := r.cmd.Bool("acceptStandardJsonOnly"); !standard && r.cmd.Version < codec.VersionStandardJSON {
		o.Dialect = codec.Legacy
	}
	zoneName, _ := r.cmd.Field("__ZONE_NAME")
	if mode := r.field("__ZONE_MODE"); strings.EqualFold(mode.S, "true") && len(bytes.TrimSpace(zoneName)) > 0 {
		o.Zone = zoneName
	}
	topic := r.field("topic")
	if body, found := r.AppendRoute(nil, []byte(topic.S), o); found && topic.Valid {
		return done(body)
	}
	return answer{
		code: codec.ResponseTopicNotExist, fromTable: true,
		remark: "No topic route info in name server for the topic: " + r.orNull("topic") +
			"\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details.",
	}
}
