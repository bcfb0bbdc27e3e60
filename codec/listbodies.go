package codec

// ClusterInfo is the answer to GET_BROKER_CLUSTER_INFO (106).
type ClusterInfo struct {
	Brokers  map[string]BrokerData // by broker name
	Clusters map[string][]string   // broker names by cluster
}

// ParseClusterInfo reads the body of an answer to 106, in either dialect. The result owns its memory.
func ParseClusterInfo(body []byte) (*ClusterInfo, error) {
	c := &ClusterInfo{Brokers: map[string]BrokerData{}, Clusters: map[string][]string{}}
	err := parseAnswer("cluster info", body, func(p *answerParser, key string) {
		switch key {
		case "brokerAddrTable":
			p.object(func(name string) { c.Brokers[name] = p.brokerData() })
		case "clusterAddrTable":
			p.object(func(name string) { c.Clusters[name] = p.strings() })
		default:
			p.skip()
		}
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// ParseTopicList reads the names in the body of an answer to 206, 224 and the other lists of topics, in the order sent.
func ParseTopicList(body []byte) ([]string, error) {
	var topics []string
	err := parseAnswer("topic list", body, func(p *answerParser, key string) {
		if key == "topicList" {
			topics = p.strings()
		} else {
			p.skip()
		}
	})
	if err != nil {
		return nil, err
	}
	return topics, nil
}

// ParseKVTable reads keys and values in the body of an answer to GET_KVLIST_BY_NAMESPACE (219).
func ParseKVTable(body []byte) (map[string]string, error) {
	table := map[string]string{}
	err := parseAnswer("KV table", body, func(p *answerParser, key string) {
		if key == "table" {
			p.object(func(key string) { table[key] = p.string() })
		} else {
			p.skip()
		}
	})
	if err != nil {
		return nil, err
	}
	return table, nil
}
