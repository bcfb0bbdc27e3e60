package codec

// requestNames are Apache's names of the request codes. Source: Apache RocketMQ 5.5.0, RequestCode.
var requestNames = map[int32]string{
	RequestPutKVConfig:                   "PUT_KV_CONFIG",
	RequestGetKVConfig:                   "GET_KV_CONFIG",
	RequestDeleteKVConfig:                "DELETE_KV_CONFIG",
	RequestRegisterBroker:                "REGISTER_BROKER",
	RequestUnregisterBroker:              "UNREGISTER_BROKER",
	RequestGetRouteInfoByTopic:           "GET_ROUTEINFO_BY_TOPIC",
	RequestGetBrokerClusterInfo:          "GET_BROKER_CLUSTER_INFO",
	RequestWipeWritePermOfBroker:         "WIPE_WRITE_PERM_OF_BROKER",
	RequestGetAllTopicListFromNameserver: "GET_ALL_TOPIC_LIST_FROM_NAMESERVER",
	RequestDeleteTopicInNamesrv:          "DELETE_TOPIC_IN_NAMESRV",
	RequestRegisterTopicInNamesrv:        "REGISTER_TOPIC_IN_NAMESRV",
	RequestGetKVListByNamespace:          "GET_KVLIST_BY_NAMESPACE",
	RequestGetTopicsByCluster:            "GET_TOPICS_BY_CLUSTER",
	RequestGetSystemTopicListFromNS:      "GET_SYSTEM_TOPIC_LIST_FROM_NS",
	RequestGetUnitTopicList:              "GET_UNIT_TOPIC_LIST",
	RequestGetHasUnitSubTopicList:        "GET_HAS_UNIT_SUB_TOPIC_LIST",
	RequestGetHasUnitSubUnunitTopicList:  "GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST",
	RequestUpdateNamesrvConfig:           "UPDATE_NAMESRV_CONFIG",
	RequestGetNamesrvConfig:              "GET_NAMESRV_CONFIG",
	RequestQueryDataVersion:              "QUERY_DATA_VERSION",
	RequestAddWritePermOfBroker:          "ADD_WRITE_PERM_OF_BROKER",
	RequestGetBrokerMemberGroup:          "GET_BROKER_MEMBER_GROUP",
	RequestBrokerHeartbeat:               "BROKER_HEARTBEAT",
	RequestNotifyMinBrokerIDChange:       "NOTIFY_MIN_BROKER_ID_CHANGE",
}

// RequestName returns Apache's name of a request code, "" for codes that a nameserver doesn't know.
func RequestName(code int32) string { return requestNames[code] }
