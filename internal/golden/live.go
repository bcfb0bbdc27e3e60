package golden

import (
	"github.com/waymark-mq/waymark/codec"
	"github.com/waymark-mq/waymark/core"
)

// Touch is a heartbeat (904) or one-way version query (322): it refreshes the
// broker and moves its ownership to conn. False: unknown, nothing happens.
func (m *Model) Touch(conn core.ConnID, cluster, addr string, now int64) bool {
	e := m.live[brokerKey{cluster, addr}]
	if e == nil {
		return false
	}
	e.last = max(e.last, now)
	e.conn, e.suspect = conn, false
	return true
}

// DataVersion is the stored version of a broker (body of 322's answer).
func (m *Model) DataVersion(cluster, addr string) (codec.DataVersion, bool) {
	e := m.live[brokerKey{cluster, addr}]
	if e == nil {
		return codec.DataVersion{}, false
	}
	return e.version, true
}

func (m *Model) queryDataVersion(c *core.QueryDataVersion) core.Result {
	stored, known := m.DataVersion(c.ClusterName, c.BrokerAddr)
	m.Touch(c.Conn, c.ClusterName, c.BrokerAddr, m.now)
	return core.Result{
		Known:       known,
		Changed:     !known || !c.HasDataVersion || c.DataVersion != stored,
		DataVersion: stored,
	}
}
