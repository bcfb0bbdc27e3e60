package core_test

import (
	"errors"
	"strconv"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// handle applies the request in hand if it becomes a command or a sign of life; all others are reads.
func (r *receiver) handle(conn core.ConnID) answer {
	switch r.cmd.Code {
	case codec.RequestRegisterBroker:
		return r.registerBroker(conn)
	case codec.RequestUnregisterBroker:
		if !r.has("brokerName", "brokerAddr", "clusterName") {
			return refused()
		}
		id, _ := r.cmd.Int64("brokerId")
		r.do(&core.UnregisterBroker{
			ClusterName: r.field("clusterName").S, BrokerName: r.field("brokerName").S,
			BrokerAddr: r.field("brokerAddr").S, BrokerID: id,
		})
	case codec.RequestBrokerHeartbeat:
		if !r.has("brokerAddr", "clusterName") {
			return refused()
		}
		r.Touch(conn, r.field("clusterName").S, r.field("brokerAddr").S, r.now)
	case codec.RequestQueryDataVersion:
		return r.queryDataVersion(conn)
	case codec.RequestWipeWritePermOfBroker:
		n := r.do(&core.WipeWritePerm{BrokerName: r.field("brokerName").S}).Count
		return answer{ext: map[string]string{"wipeTopicCount": strconv.Itoa(n)}, fromTable: true}
	case codec.RequestAddWritePermOfBroker:
		n := r.do(&core.AddWritePerm{BrokerName: r.field("brokerName").S}).Count
		return answer{ext: map[string]string{"addTopicCount": strconv.Itoa(n)}, fromTable: true}
	case codec.RequestDeleteTopicInNamesrv:
		if r.has("topic") {
			r.do(&core.DeleteTopic{Topic: r.field("topic").S, ClusterName: r.field("clusterName").S})
		}
	case codec.RequestRegisterTopicInNamesrv:
		return r.registerTopic()
	case codec.RequestPutKVConfig:
		if !r.has("namespace", "key") {
			return refused()
		}
		r.do(&core.PutKV{Namespace: r.field("namespace").S, Key: r.field("key").S, Value: r.field("value")})
	case codec.RequestDeleteKVConfig:
		if r.has("namespace", "key") {
			r.do(&core.DeleteKV{Namespace: r.field("namespace").S, Key: r.field("key").S})
		}
	default:
		return r.read()
	}
	return done("")
}

// has reports whether the request has all of these fields.
func (r *receiver) has(names ...string) bool {
	for _, name := range names {
		if !r.field(name).Valid {
			return false
		}
	}
	return true
}

func (r *receiver) registerBroker(conn core.ConnID) answer {
	if crc, _ := r.cmd.Int32("bodyCrc32"); crc != 0 && crc != codec.BodyCRC(r.cmd.Body) {
		return refused()
	}
	compressed, _ := r.cmd.Bool("compressed")
	body, err := codec.ParseRegisterBody(r.cmd.Body, &codec.RegisterBodyOptions{
		Version: r.cmd.Version, Compressed: compressed, NowMillis: wallMillis, Intern: r.InternTopic,
	})
	id, ok := r.cmd.Int64("brokerId")
	if err != nil || !ok || !r.has("brokerName", "brokerAddr", "clusterName") {
		return refused()
	}
	c := &core.RegisterBroker{
		Conn: conn, ClusterName: r.field("clusterName").S, BrokerName: r.field("brokerName").S,
		BrokerAddr: r.field("brokerAddr").S, HAServerAddr: r.field("haServerAddr"), BrokerID: id,
		ZoneName: r.field("__ZONE_NAME"), Body: body,
	}
	c.TimeoutMillis, c.HasTimeout = r.cmd.Int64("heartbeatTimeoutMillis")
	if acting, ok := r.cmd.Bool("enableActingMaster"); ok {
		c.ActingMaster = core.ActingFalse
		if acting {
			c.ActingMaster = core.ActingTrue
		}
	}
	return r.registered(r.do(c))
}

func (r *receiver) registered(result core.Result) answer {
	if result.Refused {
		return answer{code: codec.ResponseSystemError, remark: "register broker failed", fromTable: true}
	}
	table, _ := r.OrderTable()
	a := done(table)
	a.ext = map[string]string{}
	if result.MasterAddr.Valid {
		a.ext["masterAddr"] = result.MasterAddr.S
	}
	if result.HAServerAddr.Valid {
		a.ext["haServerAddr"] = result.HAServerAddr.S
	}
	return a
}

func (r *receiver) queryDataVersion(conn core.ConnID) answer {
	if !r.has("brokerAddr", "clusterName") {
		return refused()
	}
	c := &core.QueryDataVersion{Conn: conn, ClusterName: r.field("clusterName").S, BrokerAddr: r.field("brokerAddr").S}
	if len(r.cmd.Body) > 0 {
		var err error
		c.DataVersion, err = codec.ParseDataVersion(r.cmd.Body, wallMillis)
		if c.HasDataVersion = err == nil; err != nil && !errors.Is(err, codec.ErrNullBody) {
			return refused()
		}
	}
	result := r.do(c)
	a := answer{ext: map[string]string{"changed": strconv.FormatBool(result.Changed)}, fromTable: true}
	if result.Known {
		a.body = string(result.DataVersion.Append(nil))
	}
	return a
}

func (r *receiver) registerTopic() answer {
	if !r.has("topic") {
		return refused()
	}
	c := &core.RegisterTopic{Topic: r.field("topic").S}
	if len(r.cmd.Body) > 0 {
		var err error
		if c.Queues, err = codec.ParseTopicRouteQueues(r.cmd.Body); err != nil {
			return refused()
		}
	}
	r.do(c)
	return done("")
}
