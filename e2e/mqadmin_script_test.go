//go:build e2e

package e2e

import (
	"fmt"

	"github.com/waymark-mq/waymark/e2e/harness"
)

// adminScript is the life of an installation. The order counts: what changes a topic, a group or the settings is
// followed by what shows it.
var adminScript = []adminGroup{
	{"topics", topicSteps},
	{"nameserver", nameserverSteps},
	{"messages", messageSteps},
	{"groups", groupSteps},
	{"connections", connectionSteps},
	{"broker", brokerSteps},
	{"users", userSteps},
	{"exports", exportSteps},
}

// Rules for what is printed in the order of a hash table, and for what is measured.
var (
	sorted  = []harness.Rule{harness.Sorted}
	keys    = []harness.Rule{harness.Keys, harness.Sorted}
	numbers = []harness.Rule{harness.Numbers}
)

var topicSteps = []adminStep{
	{ask: "clusterList", shows: "DefaultCluster broker-a 0 <broker> V5_5_0"},
	{ask: "clusterList -c DefaultCluster", shows: "DefaultCluster broker-a 0 <broker> V5_5_0"},
	{ask: "clusterList -m", shows: "DefaultCluster broker-a "},
	{ask: "topicList", shows: "TBW102", rules: sorted},
	{ask: "topicList -c", shows: "DefaultCluster TBW102", rules: sorted},

	{do: "updateTopic -c DefaultCluster -t AdminTopic -r 4 -w 3", shows: "create topic to <broker> success."},
	{ask: "topicRoute -t AdminTopic", shows: `"writeQueueNums":3`},
	{ask: "topicRoute -t AdminTopic -l", shows: "DefaultCluster broker-a {0=<broker>} 4 3 6"},
	{ask: "topicClusterList -t AdminTopic", shows: "DefaultCluster"},
	{ask: "topicStatus -t AdminTopic", shows: "broker-a 3 0 0"},
	{ask: "topicStatus -t AdminTopic -c DefaultCluster", shows: "broker-a 3 0 0"},
	{ask: "allocateMQ -t AdminTopic -i 10.0.0.1,10.0.0.2", shows: `"queueId":3`},
	{do: "updateTopicPerm -c DefaultCluster -t AdminTopic -p 4", shows: "update topic perm from 6 to 4 in <broker> success."},
	{ask: "topicRoute -t AdminTopic -l", shows: "4 3 4"},
	{do: "updateTopicPerm -b {broker} -t AdminTopic -p 6", shows: "update topic perm from 4 to 6 in <broker> success."},
	{ask: "topicRoute -t AdminTopic -l", shows: "4 3 6"},
	{do: "updateTopicPerm -b {broker} -t AdminTopic -p 6", shows: "new perm equals to the old one!"},

	{do: "updateTopic -b {broker} -t UnitTopic -r 1 -w 1 -u true -s true -p 6", shows: "topicSysFlag=3"},
	{ask: "topicRoute -t UnitTopic", shows: `"topicSysFlag":3`},
	{do: "updateTopic -c DefaultCluster -t FifoTopic -r 2 -w 2 -a +message.type=FIFO", shows: "attributes={+message.type=FIFO}"},
	{ask: "topicRoute -t FifoTopic", shows: `"writeQueueNums":2`},
	{do: "updateTopic -c DefaultCluster -t FifoTopic -a +message.type=NONSENSE", shows: "CODE: "},
	{do: "updateTopic -c Nowhere -t FifoTopic", shows: "Make sure the specified clusterName exists"},

	{do: "updateTopicList -c DefaultCluster -f {home}/topics.json", shows: "submit batch of topic config to <broker> success"},
	{ask: "topicRoute -t ListedTopicA -l", shows: "2 2 6"},
	{ask: "topicRoute -t ListedTopicB -l", shows: "1 1 4"},
	{do: "updateTopicList -b {broker} -f {home}/topics.json", shows: "submit batch of topic config to <broker> success"},

	{do: "updateStaticTopic -c DefaultCluster -t StaticTopic -qn 4", shows: "The new mapping data is written to file <tool home>/StaticTopic-"},
	{ask: "topicRoute -t StaticTopic", shows: `"totalQueues":4`},
	{ask: "topicStatus -t StaticTopic", shows: "__syslo__global__ 3 0 0"},
	{do: "updateStaticTopic -b broker-a -t StaticTopic -qn 6", shows: "The new mapping data is written to file <tool home>/StaticTopic-"},
	{ask: "topicRoute -t StaticTopic", shows: `"totalQueues":6`},
	{do: "remappingStaticTopic -b broker-a -t StaticTopic", shows: "<tool home>/StaticTopic-<milliseconds>.after"},
	{do: "remappingStaticTopic -c DefaultCluster -t StaticTopic", shows: "<tool home>/StaticTopic-<milliseconds>.after"},
	{ask: "topicRoute -t StaticTopic", shows: `"totalQueues":6`},

	{do: "deleteTopic -c DefaultCluster -t StaticTopic", shows: "delete topic [StaticTopic] from NameServer success."},
	{ask: "topicRoute -t StaticTopic", shows: "CODE: 17 DESC: No topic route info in name server for the topic: StaticTopic"},
	{do: "deleteTopic -c DefaultCluster -t ListedTopicA", shows: "delete topic [ListedTopicA] from NameServer success."},
	{ask: "topicRoute -t ListedTopicA -l", shows: "CODE: 17 DESC: No topic route info in name server for the topic: ListedTopicA"},
	{ask: "topicClusterList -t ListedTopicA", shows: "CODE: 17 DESC: No topic route info in name server for the topic: ListedTopicA"},
	{ask: "topicStatus -t ListedTopicA", shows: "CODE: 17 DESC: No topic route info in name server for the topic: ListedTopicA"},
	{ask: "topicList", shows: "ListedTopicB", rules: sorted},
	{do: "cleanUnusedTopic -b {broker}", shows: "success"},
	{do: "cleanUnusedTopic -c DefaultCluster", shows: "success"},
}

var nameserverSteps = []adminStep{
	{do: "updateKvConfig -s e2e -k greeting -v {greeting}", shows: "create or update kv config to namespace success."},
	{look: kvGreeting, shows: `"hello world" true`},
	{do: "updateKvConfig -s e2e -k greeting -v again", shows: "create or update kv config to namespace success."},
	{look: kvGreeting, shows: `"again" true`},
	{do: "deleteKvConfig -s e2e -k greeting", shows: "delete kv config from namespace success."},
	{look: kvGreeting, shows: `"" false`},
	{do: "deleteKvConfig -s e2e -k greeting", shows: "delete kv config from namespace success."},
	{do: "deleteKvConfig -s nowhere -k greeting", shows: "delete kv config from namespace success."},

	{do: "wipeWritePerm -b broker-a", shows: "wipe write perm of broker[broker-a] in name server[<nameserver>] OK, "},
	{ask: "topicRoute -t AdminTopic", shows: `"perm":4`},
	{do: "addWritePerm -b broker-a", shows: "add write perm of broker[broker-a] in name server[<nameserver>] OK, "},
	{ask: "topicRoute -t AdminTopic", shows: `"perm":6`},
	{do: "wipeWritePerm -b nobody", shows: "wipe write perm of broker[nobody] in name server[<nameserver>] OK, 0"},
	{do: "addWritePerm -b nobody", shows: "add write perm of broker[nobody] in name server[<nameserver>] OK, 0"},

	{ask: "getNamesrvConfig", shows: "kvConfigPath = <home>/namesrv/kvConfig.json"},
	{do: "updateNamesrvConfig -k kvConfigPath -v elsewhere", shows: "Can not update config in black list."},
	{do: "updateNamesrvConfig -k enableAllTopicList -v false", shows: "enableAllTopicList : false"},
	{ask: "topicList", shows: "CODE: 1 DESC: disable"},
	{do: "updateNamesrvConfig -k enableAllTopicList -v true", shows: "update name server config success![<nameserver>]"},
	{ask: "topicList", shows: "AdminTopic", rules: sorted},
	{do: "updateNamesrvConfig -k noSuchKey -v 1", shows: "noSuchKey : 1"},
	{do: "updateNamesrvConfig -k orderMessageEnable -v true", shows: "orderMessageEnable : true"},
	{ask: "getNamesrvConfig", shows: "orderMessageEnable = true"},

	{do: "updateTopic -c DefaultCluster -t OrderTopic -r 2 -w 2 -o true", shows: "set cluster orderConf. isOrder=true, orderConf=[broker-a:2]"},
	{ask: "topicRoute -t OrderTopic", shows: `"orderTopicConf":"broker-a:2"`},
	{ask: "updateOrderConf -t OrderTopic -m get", shows: "orderConf=[broker-a:2]"},
	{do: "updateOrderConf -t OrderTopic -m put -v broker-a:1", shows: "update orderConf success. topic=[OrderTopic], orderConf=[broker-a:1]"},
	{ask: "topicRoute -t OrderTopic", shows: `"orderTopicConf":"broker-a:1"`},
	{do: "updateTopic -b {broker} -t OrderTopic -r 2 -w 2 -o true", shows: "set broker orderConf. isOrder=true, orderConf=[broker-a:2]"},
	{ask: "updateOrderConf -t OrderTopic -m get", shows: "orderConf=[broker-a:2]"},
	{do: "updateOrderConf -t OrderTopic -m delete", shows: "delete orderConf success. topic=[OrderTopic]"},
	{ask: "updateOrderConf -t OrderTopic -m get", shows: "CODE: 22 DESC: No config item, Namespace: ORDER_TOPIC_CONFIG Key: OrderTopic"},
	{ask: "topicRoute -t OrderTopic", shows: `"writeQueueNums":2`},
	{do: "updateOrderConf -t OrderTopic -m put", shows: "please set orderConf with option -v."},
	{do: "updateNamesrvConfig -k orderMessageEnable -v false", shows: "orderMessageEnable : false"},
}

// kvGreeting reads the value of the script's key.
func kvGreeting(p *adminPeer) (out string, err error) {
	err = p.nameserver.Ask(func(a *harness.Asker) error {
		value, ok, err := a.KVConfig("e2e", "greeting")
		out = fmt.Sprintf("%q %v", value, ok)
		return err
	})
	return out, err
}
