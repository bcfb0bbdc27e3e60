package clients;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.constant.PermName;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/**
 * A cluster as its clients know it: the address of a nameserver, and the credentials with which they sign requests, if
 * any. It makes clients, which their user starts and shuts down, and looks at topics.
 */
final class Cluster implements AutoCloseable {
    private static final int REQUEST_LIMIT_MILLIS = 30_000;
    private static final int PERIOD_MILLIS = 1000;
    private static final AtomicInteger clients = new AtomicInteger();

    private final String nameserver;
    private final RPCHook signing;
    private DefaultMQAdminExt admin;

    private Cluster(String nameserver, RPCHook signing) {
        this.nameserver = nameserver;
        this.signing = signing;
    }

    /** Takes HOST:PORT, or ACCESSKEY:SECRETKEY@HOST:PORT. */
    static Cluster of(String text) {
        int at = text.indexOf('@');
        if (at < 0) {
            return new Cluster(text, null);
        }
        String[] keys = text.substring(0, at).split(":");
        return new Cluster(text.substring(at + 1), new AclClientRPCHook(new SessionCredentials(keys[0], keys[1])));
    }

    DefaultMQProducer producer(String group) {
        return configured(new DefaultMQProducer(group, signing));
    }

    TransactionMQProducer transactionProducer(String group) {
        return configured(new TransactionMQProducer(group, signing));
    }

    private <P extends DefaultMQProducer> P configured(P producer) {
        // A repeated send could be the cause of a duplicate: a failure has to show as one.
        producer.setRetryTimesWhenSendFailed(0);
        producer.setRetryTimesWhenSendAsyncFailed(0);
        producer.setSendMsgTimeout(REQUEST_LIMIT_MILLIS);
        return named(producer);
    }

    DefaultMQPushConsumer pushConsumer(String group) {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group, signing, new AllocateMessageQueueAveragely());
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        return attentive(consumer);
    }

    DefaultLitePullConsumer litePullConsumer(String group) {
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer(group, signing);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        return attentive(consumer);
    }

    /** A lite pull consumer joins its group by a heartbeat, and the first may come before it knows a broker. */
    private <C extends ClientConfig> C attentive(C consumer) {
        consumer.setHeartbeatBrokerInterval(PERIOD_MILLIS);
        consumer.setPollNameServerInterval(PERIOD_MILLIS);
        return named(consumer);
    }

    /** Clients of one instance name share connections and credentials: each gets a name of its own. */
    private <C extends ClientConfig> C named(C client) {
        client.setNamesrvAddr(nameserver);
        client.setInstanceName("client-" + clients.incrementAndGet());
        client.setMqClientApiTimeout(REQUEST_LIMIT_MILLIS);
        return client;
    }

    /** Creates a topic on a broker and waits until the nameserver knows it. */
    void createTopic(String broker, String topic, int queues) throws Exception {
        admin().createAndUpdateTopicConfig(broker,
            new TopicConfig(topic, queues, queues, PermName.PERM_READ | PermName.PERM_WRITE));
        Eventually.holds("route of " + topic, () -> admin().examineTopicRouteInfo(topic) != null);
    }

    /** The number of messages that a topic has ever taken. */
    long stored(String topic) throws Exception {
        return admin().examineTopicStats(topic).getOffsetTable().values().stream()
            .mapToLong(queue -> queue.getMaxOffset()).sum();
    }

    /** The number of messages of a topic that a group has told the broker to have consumed. */
    long consumed(String topic, String group) throws Exception {
        return admin().examineConsumeStats(group, topic).getOffsetTable().values().stream()
            .mapToLong(queue -> queue.getConsumerOffset()).sum();
    }

    private DefaultMQAdminExt admin() throws MQClientException {
        if (admin == null) {
            admin = named(new DefaultMQAdminExt(signing, REQUEST_LIMIT_MILLIS));
            admin.start();
        }
        return admin;
    }

    @Override
    public void close() {
        if (admin != null) {
            admin.shutdown();
        }
    }
}
