package clients;

import java.util.Set;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageQueue;

/** A consumer whose library pulls by itself and hands messages to a listener. */
final class PushMember implements Member {
    private final DefaultMQPushConsumer consumer;
    private final String topic;
    private final Arrivals arrivals = new Arrivals();

    PushMember(Cluster cluster, String group, String topic, boolean broadcasting) throws MQClientException {
        this.consumer = cluster.pushConsumer(group);
        this.topic = topic;
        if (broadcasting) {
            consumer.setMessageModel(Enum.valueOf(consumer.getMessageModel().getDeclaringClass(), "BROADCASTING"));
        }
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            arrivals.take(messages);
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
    }

    @Override
    public void start() throws MQClientException {
        consumer.start();
    }

    /** There is a queue for repeated messages beside those of the topic. */
    @Override
    public Set<MessageQueue> queues() {
        return consumer.getDefaultMQPushConsumerImpl().getRebalanceImpl().getProcessQueueTable().keySet().stream()
            .filter(queue -> queue.getTopic().equals(topic)).collect(Collectors.toSet());
    }

    @Override
    public void commit() {
        consumer.getDefaultMQPushConsumerImpl().persistConsumerOffset();
    }

    @Override
    public void leave() {
        consumer.shutdown();
    }

    @Override
    public Arrivals arrivals() {
        return arrivals;
    }
}
