//go:build e2e

package e2e

import (
	"slices"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// What a later command calls a message or a client by.
var (
	keepUniqueKey = capture{"uniqueKey", `SEND_OK +(\w+)`}
	keepOffsetID  = capture{"offsetID", `OffsetID: +(\w+)`}
	keepClientID  = capture{"clientID", `(?m)^1 +(\S+)`}
)

// The tool is a client itself, which a broker may see for longer than it was there: its last sign of life may be read
// after its goodbye.
var (
	scriptGroups = []harness.Rule{harness.Lines(`^(#Group|AdminGroup|CloneGroup) `)}
	firstClient  = []harness.Rule{harness.Lines(`^0001 `)}
)

var messageSteps = []adminStep{
	{do: "sendMessage -t AdminTopic -p {greeting} -k key1 -c TagA -b broker-a -i 0", shows: "broker-a 0 SEND_OK <message>"},
	{do: "sendMessage -t AdminTopic -p second -k key2 -b broker-a -i 1", shows: "broker-a 1 SEND_OK <message>"},
	{do: "sendMessage -t AdminTopic -p third -k key3 -m true -b broker-a -i 2", shows: "broker-a 2 SEND_OK <message>", keep: keepUniqueKey},
	{do: "sendMessage -t AdminTopic -p lost -i 2", shows: "Broker name must be set if the queue is chosen!"},
	{ask: "topicStatus -t AdminTopic", shows: "broker-a 2 0 1 <time>"},
	{ask: "printMsg -t AdminTopic", shows: "BODY: hello world"},
	{ask: "printMsg -t AdminTopic -s TagA -d false", shows: "KEYS=key1"},
	{ask: "printMsgByQueue -t AdminTopic -a broker-a -i 0 -p true -d true -f true", shows: "Tag: TagA Count: 1"},
	{ask: "consumeMessage -t AdminTopic", shows: "BODY: third"},
	{ask: "consumeMessage -t AdminTopic -b broker-a -i 1 -o 0 -g ReaderGroup", shows: "BODY: second"},
	{ask: "queryMsgByKey -t AdminTopic -k key2", shows: "<message> 1 0 <milliseconds>@AdminTopic@K@key2@<message>@<offset>"},
	{ask: "queryMsgByKey -t AdminTopic -k TagA -p T", shows: "@AdminTopic@T@TagA@"},
	{ask: "queryMsgByOffset -t AdminTopic -b broker-a -i 2 -o 0 -f UTF-8", shows: "Message Body: third", keep: keepOffsetID},
	{ask: "queryMsgById -t AdminTopic -i {offsetID} -f UTF-8", shows: "Message Body: third"},
	{ask: "queryMsgByUniqueKey -t AdminTopic -i {uniqueKey}", shows: "Keys: [key3]"},
	{ask: "queryMsgByUniqueKey -t AdminTopic -i {uniqueKey} -a", shows: "Keys: [key3]"},
	{ask: "queryMsgTraceById -i {uniqueKey}", shows: "Pub"},
	{ask: "queryCq -t AdminTopic -q 1 -i 0 -b {broker}", shows: "max: 1, min: 0"},
	{ask: "queryCq -t AdminTopic -q 1 -i 0", shows: "max: 1, min: 0"},
	{do: "checkMsgSendRT -t AdminTopic -a 3 -s 10", shows: "broker-a # true #", rules: numbers},
	{do: "sendMsgStatus -b broker-a -c 2 -s 20", shows: "sendStatus=SEND_OK"},
	{ask: "topicStatus -t AdminTopic", shows: "broker-a 2 0 2 <time>"},
	{start: "clusterRT -c DefaultCluster -a 3 -s 20 -i 3600", shows: "DefaultCluster broker-a # # #", rules: numbers},
	{ask: "queryMsgByKey -t NoTopic -k key2", shows: "CODE: 17"},
}

var groupSteps = []adminStep{
	{do: "updateSubGroup -c DefaultCluster -g AdminGroup -m true -q 2 -r 5 -d true", shows: "create subscription group to <broker> success."},
	{ask: "getConsumerConfig -g AdminGroup", shows: "retryMaxTimes = 5"},
	{do: "updateSubGroup -b {broker} -g CloneGroup -o true", shows: "consumeMessageOrderly=true"},
	{do: "updateSubGroupList -c DefaultCluster -f {home}/groups.json", shows: "submit batch of subscription group config to <broker> success"},
	{ask: "getConsumerConfig -g ListedGroupA", shows: "retryMaxTimes = 3"},
	// The topic that a group's consumers bring with them: its route leads to the group's brokers.
	{do: "updateTopic -b {broker} -t %RETRY%AdminGroup -r 1 -w 1", shows: "create topic to <broker> success."},
	{do: "updateTopic -b {broker} -t %RETRY%CloneGroup -r 1 -w 1", shows: "create topic to <broker> success."},
	{ask: "topicRoute -t %RETRY%CloneGroup", shows: `"writeQueueNums":1`},

	{do: "resetOffsetByTime -g AdminGroup -t AdminTopic -s now", shows: "broker-a 3 0"},
	{ask: "consumerProgress -g AdminGroup", shows: "Consume Diff Total: 0"},
	{do: "resetOffsetByTime -g AdminGroup -t AdminTopic -s now -b {broker} -q 1 -o 1", shows: "reset consumer offset to 1"},
	{ask: "consumerProgress -g AdminGroup", shows: "AdminTopic broker-a 1 2 1 1"},
	{do: "cloneGroupOffset -s AdminGroup -d CloneGroup -t AdminTopic", shows: "clone group offset success. srcGroup[AdminGroup], destGroup=[CloneGroup]"},
	{ask: "consumerProgress -g CloneGroup -t AdminTopic", shows: "AdminTopic broker-a 1 2 1 1"},
	{do: "skipAccumulatedMessage -g AdminGroup -t AdminTopic", shows: "broker-a 1 2"},
	{ask: "consumerProgress -g AdminGroup", shows: "Consume Diff Total: 0"},
	{ask: "consumerProgress -g AdminGroup -s true", shows: "AdminTopic broker-a 1 2 2 N/A 0 0"},
	{ask: "consumerProgress", shows: "AdminGroup 0 OFFLINE", rules: scriptGroups},
	{ask: "brokerConsumeStats -b {broker}", shows: "AdminTopic CloneGroup broker-a 1 2 1 1"},
	{ask: "topicList -c", shows: "DefaultCluster AdminTopic AdminGroup", rules: sorted},
	{do: "setConsumeMode -c DefaultCluster -t AdminTopic -g AdminGroup -m POP -q 2", shows: "consume mode[POP] popShareQueueNum[2]"},
	{do: "setConsumeMode -b {broker} -t AdminTopic -g AdminGroup -m PULL", shows: "consume mode[PULL] popShareQueueNum[0]"},
	{ask: "consumerConnection -g AdminGroup", shows: "the consumer group[AdminGroup] not online"},
	{do: "deleteSubGroup -b {broker} -g ListedGroupB", shows: "delete subscription group [ListedGroupB] from broker [<broker>] success."},
	{do: "deleteSubGroup -c DefaultCluster -g CloneGroup -r true", shows: "delete subscription group [CloneGroup] from broker [<broker>] in cluster [DefaultCluster] success."},
	{ask: "topicRoute -t %RETRY%CloneGroup", shows: "CODE: 17"},
	{ask: "getConsumerConfig -g CloneGroup", shows: ""},
}

// connectionSteps look at a consumer and a producer that are at work: the tool's own monitor.
var connectionSteps = []adminStep{
	{start: "startMonitoring"},
	{ask: "consumerConnection -g __MONITOR_CONSUMER", shows: "OFFSET_MOVED_EVENT *"},
	{ask: "consumerConnection -g __MONITOR_CONSUMER -b {broker}", shows: "ConsumeType: CONSUME_PASSIVELY"},
	{ask: "consumerStatus -g __MONITOR_CONSUMER", shows: "Rebalance OK", keep: keepClientID},
	{ask: "consumerStatus -g __MONITOR_CONSUMER -i {clientID}", shows: "OFFSET_MOVED_EVENT", rules: slices.Concat(numbers, keys)},
	{ask: "producerConnection -g CLIENT_INNER_PRODUCER -t OFFSET_MOVED_EVENT", shows: "0001 <client id>", rules: firstClient},
	{ask: "producer -b {broker}", shows: "producer group (CLIENT_INNER_PRODUCER) instance", rules: []harness.Rule{harness.Sorted, harness.Distinct}},
	{do: "queryMsgById -t AdminTopic -i {offsetID} -g __MONITOR_CONSUMER -d {clientID}", shows: "consumeResult=CR_SUCCESS", rules: numbers},
	{do: "queryMsgByUniqueKey -t AdminTopic -i {uniqueKey} -g __MONITOR_CONSUMER -d {clientID}", shows: "consumeResult=CR_SUCCESS", rules: numbers},
	{do: "queryMsgById -t AdminTopic -i {offsetID} -s true", shows: "prepare resend msg. originalMsgId=<message>", rules: numbers},
}
