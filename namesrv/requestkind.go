package namesrv

import (
	"strings"

	"github.com/waymark-mq/waymark/codec"
)

// requestKind numbers the request codes that are counted by themselves; all others share otherRequest.
type requestKind uint8

const (
	otherRequest requestKind = iota
	routeRequest
	heartbeatRequest
	registerRequest
)

// requestClass is what a request is for, in the words of rocketmq-rust's metrics.
type requestClass string

const (
	routeRead     requestClass = "route-read"
	brokerControl requestClass = "broker-control"
	adminRequest  requestClass = "admin"
)

// requestKinds are the kinds in order: the code, and its class as metrics show it.
var requestKinds = [...]struct {
	code  int32
	class requestClass
}{
	otherRequest:     {-1, adminRequest},
	routeRequest:     {codec.RequestGetRouteInfoByTopic, routeRead},
	heartbeatRequest: {codec.RequestBrokerHeartbeat, brokerControl},
	registerRequest:  {codec.RequestRegisterBroker, brokerControl},
	4:                {codec.RequestUnregisterBroker, brokerControl},
	5:                {codec.RequestQueryDataVersion, brokerControl},
	6:                {codec.RequestGetBrokerMemberGroup, brokerControl},
	7:                {codec.RequestGetBrokerClusterInfo, adminRequest},
	8:                {codec.RequestGetAllTopicListFromNameserver, adminRequest},
	9:                {codec.RequestGetTopicsByCluster, adminRequest},
	10:               {codec.RequestGetSystemTopicListFromNS, adminRequest},
	11:               {codec.RequestGetUnitTopicList, adminRequest},
	12:               {codec.RequestGetHasUnitSubTopicList, adminRequest},
	13:               {codec.RequestGetHasUnitSubUnunitTopicList, adminRequest},
	14:               {codec.RequestWipeWritePermOfBroker, adminRequest},
	15:               {codec.RequestAddWritePermOfBroker, adminRequest},
	16:               {codec.RequestDeleteTopicInNamesrv, adminRequest},
	17:               {codec.RequestRegisterTopicInNamesrv, brokerControl},
	18:               {codec.RequestPutKVConfig, adminRequest},
	19:               {codec.RequestGetKVConfig, adminRequest},
	20:               {codec.RequestDeleteKVConfig, adminRequest},
	21:               {codec.RequestGetKVListByNamespace, adminRequest},
	22:               {codec.RequestUpdateNamesrvConfig, adminRequest},
	23:               {codec.RequestGetNamesrvConfig, adminRequest},
}

// requestNames are the kinds' names as metrics show them: Apache's constants in lower case, as RIP-46 has them.
var requestNames = func() (names [len(requestKinds)]string) {
	for kind, k := range requestKinds {
		names[kind] = strings.ToLower(codec.RequestName(k.code))
	}
	names[otherRequest] = "other"
	return names
}()

// kindOfCode finds the kind of a code below its length; 0 is otherRequest. Read only.
var kindOfCode = func() (kinds [codec.RequestBrokerHeartbeat + 1]requestKind) {
	for kind, k := range requestKinds {
		if k.code >= 0 {
			kinds[k.code] = requestKind(kind)
		}
	}
	return kinds
}()

func kindOf(code int32) requestKind {
	if uint32(code) < uint32(len(kindOfCode)) {
		return kindOfCode[code]
	}
	return otherRequest
}

// result numbers what became of a request.
type result uint8

const (
	answeredOK   result = iota // code 0
	answeredElse               // a code without a number of its own
	answeredError
	answeredBusy
	answeredUnknown
	answeredDenied
	answeredNoTopic
	answeredNotFound
	answeredGoAway
	notAnswered // a one-way request
	failedRequest
	results
	later // goes on elsewhere, and is counted there
)

// resultTexts are the results' response code and result as metrics show them, RIP-46's words, and outcome, rocketmq-rust's.
var resultTexts = [results]struct {
	code                      int32
	response, result, outcome string
}{
	answeredOK:       {codec.ResponseSuccess, "success", "success", "success"},
	answeredElse:     {-1, "other", "success", "error"},
	answeredError:    {codec.ResponseSystemError, "system_error", "success", "error"},
	answeredBusy:     {codec.ResponseSystemBusy, "system_busy", "success", "rejected"},
	answeredUnknown:  {codec.ResponseRequestCodeNotSupported, "request_code_not_supported", "success", "error"},
	answeredDenied:   {codec.ResponseNoPermission, "no_permission", "success", "rejected"},
	answeredNoTopic:  {codec.ResponseTopicNotExist, "topic_not_exist", "success", "error"},
	answeredNotFound: {codec.ResponseQueryNotFound, "query_not_found", "success", "error"},
	answeredGoAway:   {codec.ResponseGoAway, "go_away", "success", "rejected"},
	notAnswered:      {-1, "none", "oneway", "success"},
	failedRequest:    {-1, "none", "process_request_failed", "error"},
}

func resultOf(code int32) result {
	switch code {
	case codec.ResponseSuccess:
		return answeredOK
	case codec.ResponseTopicNotExist:
		return answeredNoTopic
	case codec.ResponseSystemBusy:
		return answeredBusy
	case codec.ResponseSystemError:
		return answeredError
	case codec.ResponseQueryNotFound:
		return answeredNotFound
	case codec.ResponseRequestCodeNotSupported:
		return answeredUnknown
	case codec.ResponseNoPermission:
		return answeredDenied
	case codec.ResponseGoAway:
		return answeredGoAway
	}
	return answeredElse
}
