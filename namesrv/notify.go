package namesrv

import (
	"strconv"

	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// notifyMinBrokerID sends NOTIFY_MIN_BROKER_ID_CHANGE (905), one-way, to the rest of a
// group. All recipients get the same opaque. Connecting and sending happen elsewhere
// and are bounded in time; failures are only counted there.
func (s *Server) notifyMinBrokerID(n *core.NotifyMinBrokerID) {
	var fields []codec.ExtField
	if n.HABrokerAddr.Valid {
		fields = append(fields, codec.ExtField{Name: "haBrokerAddr", Value: n.HABrokerAddr.S})
	}
	if n.OfflineBrokerAddr.Valid {
		fields = append(fields, codec.ExtField{Name: "offlineBrokerAddr", Value: n.OfflineBrokerAddr.S})
	}
	fields = append(fields,
		codec.ExtField{Name: "minBrokerAddr", Value: n.MinBrokerAddr},
		codec.ExtField{Name: "minBrokerId", Value: strconv.FormatInt(n.MinBrokerID, 10)})
	s.notified++
	frame := codec.AppendFrame(nil, s.serializeType, &codec.Header{
		Code: codec.RequestNotifyMinBrokerIDChange, Flag: codec.FlagOneway, Opaque: s.notified,
		Version: codec.ServerVersion, ExtFields: fields,
	}, nil)
	for _, addr := range n.Recipients {
		s.notifier.Notify(addr, frame)
	}
}
