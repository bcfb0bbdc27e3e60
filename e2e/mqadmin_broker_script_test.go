//go:build e2e

package e2e

import (
	"slices"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// Whether the monitor, killed by now, has been counted as a consumer of its topic is a matter of seconds.
var scriptTopics = slices.Concat(numbers, sorted, []harness.Rule{harness.Lines(`^(#Topic|AdminTopic|UnitTopic|OrderTopic|TBW102) `)})

var brokerSteps = []adminStep{
	{ask: "brokerStatus -b {broker}", shows: "bootTimestamp", rules: keys},
	{ask: "brokerStatus -c DefaultCluster", shows: "<broker> bootTimestamp", rules: keys},
	{do: "updateBrokerConfig -b {broker} -k slaveReadEnable -v true", shows: "update broker config success, <broker>"},
	{ask: "getBrokerConfig -b {broker}", shows: "slaveReadEnable = true", rules: sorted},
	{do: "updateBrokerConfig -c DefaultCluster -a true -k slaveReadEnable -v false", shows: "update broker config success, <broker>"},
	{ask: "getBrokerConfig -c DefaultCluster", shows: "slaveReadEnable = false", rules: sorted},
	{do: "cleanExpiredCQ -b {broker}", shows: "success"},
	{do: "cleanExpiredCQ -c DefaultCluster", shows: "success"},
	{do: "deleteExpiredCommitLog -b {broker}", shows: "success"},
	{do: "deleteExpiredCommitLog -c DefaultCluster", shows: "success"},
	{do: "resetMasterFlushOffset -b {broker} -o 100", shows: "reset master flush offset to 100 success"},
	{ask: "haStatus -b {broker}", shows: "#SlaveNum 0"},
	{ask: "haStatus -c DefaultCluster", shows: "#MasterAddr <broker>"},
	{do: "updateColdDataFlowCtrGroupConfig -c DefaultCluster -g AdminGroup -v 8192", shows: "updateColdDataFlowCtrGroupConfig success, <broker>"},
	{ask: "getColdDataFlowCtrInfo -c DefaultCluster", shows: `"AdminGroup":8192`},
	{do: "updateColdDataFlowCtrGroupConfig -b {broker} -g AdminGroup -v 4096", shows: "updateColdDataFlowCtrGroupConfig success, <broker>"},
	{ask: "getColdDataFlowCtrInfo -b {broker}", shows: `"AdminGroup":4096`},
	{do: "removeColdDataFlowCtrGroupConfig -c DefaultCluster -g AdminGroup", shows: "remove broker cold read threshold success, <broker>"},
	{ask: "getColdDataFlowCtrInfo -b {broker}", shows: `"configTable":{}`},
	{do: "setCommitLogReadAheadMode -c DefaultCluster -m 1", shows: "set commitlog readahead mode success, mode: 1"},
	{do: "setCommitLogReadAheadMode -b {broker} -m 0", shows: "set commitlog readahead mode success, mode: 0"},
	{do: "switchTimerEngine -b {broker} -e R", shows: "switchTimerEngine to ROCKSDB_TIMELINE success, <broker>"},
	{do: "switchTimerEngine -c DefaultCluster -e F", shows: "switchTimerEngine to FILE_TIME_WHEEL success, <broker>"},
	{do: "checkRocksdbCqWriteProgress -c DefaultCluster -t AdminTopic", shows: "broker-a check doing, please wait"},
	{ask: "statsAll", shows: "AdminTopic AdminGroup #", rules: scriptTopics},
	{ask: "statsAll -t AdminTopic", shows: "AdminTopic AdminGroup #", rules: numbers},
	{ask: "statsAll -a", shows: "AdminTopic AdminGroup #", rules: scriptTopics},
}

var userSteps = []adminStep{
	{do: "createUser -b {broker} -u alice -p secret -t Super", shows: "create user to <broker> success."},
	{do: "createUser -c DefaultCluster -u bob -p secret2 -t Normal", shows: "create user to <broker> success."},
	{do: "createUser -b {broker} -u alice -p secret -t Super", shows: "CODE: "},
	{ask: "listUser -c DefaultCluster", shows: "bob secret2 Normal enable"},
	{do: "updateUser -b {broker} -u bob -s disable", shows: "update user to <broker> success."},
	{do: "updateUser -c DefaultCluster -u bob -p secret3", shows: "update user to <broker> success."},
	{ask: "getUser -c DefaultCluster -u bob", shows: "bob secret3 Normal disable"},
	{do: "copyUser -f {broker} -t {broker} -u bob", shows: "copy user of bob from <broker> to <broker> success."},

	{do: "createAcl -b {broker} -s User:bob -r Topic:AdminTopic -a Pub,Sub -i 127.0.0.1 -d Allow", shows: "create acl to <broker> success."},
	{ask: "getAcl -b {broker} -s User:bob", shows: "User:bob Custom Topic:AdminTopic [Pub, Sub] [127.0.0.1] Allow"},
	{do: "updateAcl -c DefaultCluster -s User:bob -r Topic:AdminTopic -a Pub -i 127.0.0.1 -d Deny", shows: "update acl to <broker> success."},
	{ask: "listAcl -c DefaultCluster", shows: "User:bob Custom Topic:AdminTopic [Pub] [127.0.0.1] Deny"},
	{do: "copyAcl -f {broker} -t {broker} -s User:bob", shows: "copy acl of User:bob from <broker> to <broker> success."},
	{do: "deleteAcl -c DefaultCluster -s User:bob", shows: "delete acl to <broker> success."},
	{ask: "getAcl -c DefaultCluster -s User:bob", shows: ""},

	{do: "deleteUser -c DefaultCluster -u bob", shows: "delete user to <broker> success."},
	{ask: "getUser -b {broker} -u bob", shows: ""},
	{do: "deleteUser -b {broker} -u alice", shows: "delete user to <broker> success."},
	{ask: "listUser -b {broker}", shows: ""},
}

// exportSteps read what the broker keeps, and the light topics that it keeps as queues of another.
var exportSteps = []adminStep{
	{ask: "exportMetadata -c DefaultCluster -f {home}/export", file: "export/metadata.json", shows: `"topicName":"AdminTopic"`},
	{ask: "exportMetadata -b {broker} -t -f {home}/export", file: "export/topic.json", shows: `"topicName":"AdminTopic"`},
	{ask: "exportMetadata -b {broker} -g -f {home}/export", file: "export/subscriptionGroup.json", shows: `"groupName":"AdminGroup"`},
	{ask: "exportConfigs -c DefaultCluster -f {home}/export", file: "export/configs.json", shows: `"namesrvSize":1`},
	{ask: "exportMetrics -c DefaultCluster -f {home}/export", file: "export/metrics.json", shows: `"rocketmqVersion"`, rules: keys},
	{do: "exportPopRecord -b {broker}", shows: "Export broker records, brokerName=broker-a, brokerAddr=<broker>, dryRun=false"},
	{do: "exportPopRecord -c DefaultCluster", shows: "Export broker records, brokerName=broker-a, brokerAddr=<broker>, dryRun=false"},
	{do: "rocksDBConfigToJson -c DefaultCluster -t topics", shows: "broker export done."},

	{do: "updateTopic -b {broker} -t LiteTopic -r 1 -w 1 -a +message.type=LITE,+lite.topic.expiration=30", shows: "create topic to <broker> success."},
	{do: "updateSubGroup -b {broker} -g LiteGroup --attributes +lite.bind.topic=LiteTopic", shows: "create subscription group to <broker> success."},
	{ask: "getParentTopicInfo -p LiteTopic", shows: "broker-a 30 0 0 [LiteGroup]"},
	{ask: "getLiteTopicInfo -p LiteTopic -l one -s", shows: "broker-a 0 0 - true 0"},
	{ask: "getLiteClientInfo -p LiteTopic -g LiteGroup -c nobody -s", shows: "broker-a N/A N/A N/A"},
	{ask: "getLiteGroupInfo -p LiteTopic -g LiteGroup", shows: "Total Lag Count: 0"},
	{ask: "getLiteGroupInfo -p LiteTopic -g LiteGroup -l one", shows: "broker-a - - - -"},
	{do: "triggerLiteDispatch -p LiteTopic -g LiteGroup", shows: "broker-a dispatched"},
	{ask: "getBrokerLiteInfo -c DefaultCluster -d", shows: `Group Meta: {"LiteTopic":["LiteGroup"]}`, rules: numbers},
	{ask: "getBrokerLiteInfo -b {broker}", shows: "<broker> default ", rules: numbers},
}
