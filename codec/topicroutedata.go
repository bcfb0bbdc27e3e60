package codec

// TopicRouteData is the answer to GET_ROUTEINFO_BY_TOPIC (105), in the order sent.
type TopicRouteData struct {
	Queues         []QueueData
	Brokers        []BrokerData
	OrderTopicConf NullString
	FilterServers  map[string][]string // by broker address
	Mappings       []TopicQueueMapping // Key is the broker name
}

// BrokerData is a broker name with its addresses, as routes and cluster info have it.
type BrokerData struct {
	Cluster            string
	BrokerName         string
	Addrs              []BrokerAddr // a repeated id may occur: the last stands
	ZoneName           NullString
	EnableActingMaster bool
}

// BrokerAddr is the address of one broker of a name; ID 0 is the master.
type BrokerAddr struct {
	ID   int64
	Addr string
}

// ParseTopicRoute reads the body of an answer to 105, in either dialect. The result owns its memory.
func ParseTopicRoute(body []byte) (*TopicRouteData, error) {
	d := &TopicRouteData{}
	err := parseAnswer("route", body, func(p *answerParser, key string) {
		switch key {
		case "queueDatas":
			d.Queues = p.queueDatas()
		case "brokerDatas":
			d.Brokers = p.brokerDatas()
		case "orderTopicConf":
			d.OrderTopicConf = p.nullString("")
		case "filterServerTable":
			d.FilterServers = map[string][]string{}
			p.object(func(addr string) { d.FilterServers[addr] = p.strings() })
		case "topicQueueMappingByBroker":
			p.mappings()
			d.Mappings = p.body.Mappings
		default:
			p.skip()
		}
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// brokerDatas reads a list of broker names.
func (p *answerParser) brokerDatas() (list []BrokerData) {
	if p.null() || !p.open('[') {
		return nil
	}
	for p.element() && p.entry() {
		list = append(list, p.brokerData())
	}
	return list
}
