package golden

import "github.com/waymark-mq/waymark/codec"

// orderNamespace holds the order configuration of topics, by topic.
const orderNamespace = "ORDER_TOPIC_CONFIG"

func (m *Model) putKV(namespace, key string, value codec.NullString) {
	if m.kv[namespace] == nil {
		m.kv[namespace] = map[string]codec.NullString{}
	}
	m.kv[namespace][key] = value
}

// KV is the value of GET_KV_CONFIG (101); a null value reads as absent.
func (m *Model) KV(namespace, key string) (string, bool) {
	v := m.kv[namespace][key]
	return v.S, v.Valid
}

// KVList is the body of GET_KVLIST_BY_NAMESPACE (219); not ok for an unknown namespace.
func (m *Model) KVList(namespace string) (body string, ok bool) {
	values, known := m.kv[namespace]
	if !known {
		return "", false
	}
	table := map[string]string{}
	for key, v := range values {
		if v.Valid {
			table[key] = quote(v.S)
		}
	}
	return object(map[string]string{"table": object(table)}), true
}

// OrderTable is the body of the answer to REGISTER_BROKER (103).
func (m *Model) OrderTable() (body string, ok bool) {
	if !m.settings.ReturnOrderTopicConfigToBroker {
		return "", false
	}
	return m.KVList(orderNamespace)
}
