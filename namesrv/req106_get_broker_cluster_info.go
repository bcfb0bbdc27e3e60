package namesrv

// getBrokerClusterInfo answers GET_BROKER_CLUSTER_INFO (106): all broker names with
// their addresses, all clusters with their broker names. Every 5.x broker asks every 5 s.
//
// Request:  nothing.
// Response: 0 {"brokerAddrTable":{…},"clusterAddrTable":{…}}, legacy dialect whatever the version.
// Source:   Apache RocketMQ 5.5.0, recorded in conformance/testdata.
func (l *loop) getBrokerClusterInfo(dst []byte) []byte {
	return l.list(dst, l.table.Load().ClusterInfo())
}
