package core

import (
	"fmt"
	"strconv"
	"strings"
)

// OrderTopicConfig is the KV namespace of ordered topics.
const OrderTopicConfig = "ORDER_TOPIC_CONFIG"

// CheckOrderConf tells why an order configuration would make clients fail. They
// read broker:queues pairs joined by ";" without checks.
func CheckOrderConf(conf string) error {
	for pair := range strings.SplitSeq(conf, ";") {
		name, count, ok := strings.Cut(pair, ":")
		n, err := strconv.ParseInt(count, 10, 32)
		if !ok || name == "" || err != nil || n <= 0 {
			return fmt.Errorf("order configuration %q is not broker:queues joined by semicolons", conf)
		}
	}
	return nil
}

// OrderConfsOfAbsent counts the order configurations that name a broker which isn't there: clients send messages nowhere for its
// queues. Of all of them most pairs of broker and queues are looked at.
func (s *Snapshot) OrderConfsOfAbsent(most int) (n int) {
	orders, ok := s.namespace(OrderTopicConfig)
	if !ok {
		return 0
	}
	for _, conf := range orders.values {
		for pair := range strings.SplitSeq(conf, ";") {
			if most--; most < 0 {
				return n
			}
			name, _, paired := strings.Cut(pair, ":")
			if paired && s.brokers.group(name) == nil {
				n++
				break
			}
		}
	}
	return n
}

// readableOrderConf is a namespace of order configurations without those that would make clients fail.
func readableOrderConf(values map[string]string) map[string]string {
	readable := make(map[string]string, len(values))
	for topic, conf := range values {
		if CheckOrderConf(conf) == nil {
			readable[topic] = conf
		}
	}
	return readable
}
