package codec

// Request codes that a nameserver answers, and the one that it sends. The
// comments carry Apache's names.
const (
	RequestPutKVConfig                   int32 = 100 // PUT_KV_CONFIG
	RequestGetKVConfig                   int32 = 101 // GET_KV_CONFIG
	RequestDeleteKVConfig                int32 = 102 // DELETE_KV_CONFIG
	RequestRegisterBroker                int32 = 103 // REGISTER_BROKER
	RequestUnregisterBroker              int32 = 104 // UNREGISTER_BROKER
	RequestGetRouteInfoByTopic           int32 = 105 // GET_ROUTEINFO_BY_TOPIC
	RequestGetBrokerClusterInfo          int32 = 106 // GET_BROKER_CLUSTER_INFO
	RequestWipeWritePermOfBroker         int32 = 205 // WIPE_WRITE_PERM_OF_BROKER
	RequestGetAllTopicListFromNameserver int32 = 206 // GET_ALL_TOPIC_LIST_FROM_NAMESERVER
	RequestDeleteTopicInNamesrv          int32 = 216 // DELETE_TOPIC_IN_NAMESRV
	RequestRegisterTopicInNamesrv        int32 = 217 // REGISTER_TOPIC_IN_NAMESRV
	RequestGetKVListByNamespace          int32 = 219 // GET_KVLIST_BY_NAMESPACE
	RequestGetTopicsByCluster            int32 = 224 // GET_TOPICS_BY_CLUSTER
	RequestGetSystemTopicListFromNS      int32 = 304 // GET_SYSTEM_TOPIC_LIST_FROM_NS
	RequestGetUnitTopicList              int32 = 311 // GET_UNIT_TOPIC_LIST
	RequestGetHasUnitSubTopicList        int32 = 312 // GET_HAS_UNIT_SUB_TOPIC_LIST
	RequestGetHasUnitSubUnunitTopicList  int32 = 313 // GET_HAS_UNIT_SUB_UNUNIT_TOPIC_LIST
	RequestUpdateNamesrvConfig           int32 = 318 // UPDATE_NAMESRV_CONFIG
	RequestGetNamesrvConfig              int32 = 319 // GET_NAMESRV_CONFIG
	RequestQueryDataVersion              int32 = 322 // QUERY_DATA_VERSION
	RequestAddWritePermOfBroker          int32 = 327 // ADD_WRITE_PERM_OF_BROKER
	RequestGetBrokerMemberGroup          int32 = 901 // GET_BROKER_MEMBER_GROUP
	RequestBrokerHeartbeat               int32 = 904 // BROKER_HEARTBEAT
	RequestNotifyMinBrokerIDChange       int32 = 905 // NOTIFY_MIN_BROKER_ID_CHANGE, sent to brokers
)

// RequestGetSystemTopicListFromBroker is GET_SYSTEM_TOPIC_LIST_FROM_BROKER, which brokers answer.
const RequestGetSystemTopicListFromBroker int32 = 305
