package clients;

import java.util.Set;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageQueue;

/** A consumer that asks its library for messages, in a thread of its own. */
final class LitePullMember implements Member {
    private static final long POLL_MILLIS = 100;

    private final DefaultLitePullConsumer consumer;
    private final String topic;
    private final Arrivals arrivals = new Arrivals();
    private final Thread polling = new Thread(this::poll, "lite pull");
    private volatile boolean leaving;

    LitePullMember(Cluster cluster, String group, String topic, boolean broadcasting) throws MQClientException {
        this.consumer = cluster.litePullConsumer(group);
        this.topic = topic;
        if (broadcasting) {
            consumer.setMessageModel(Enum.valueOf(consumer.getMessageModel().getDeclaringClass(), "BROADCASTING"));
        }
        consumer.subscribe(topic, "*");
    }

    @Override
    public void start() throws MQClientException {
        consumer.start();
        polling.start();
    }

    private void poll() {
        while (!leaving) {
            arrivals.take(consumer.poll(POLL_MILLIS));
        }
    }

    @Override
    public Set<MessageQueue> queues() throws MQClientException {
        return consumer.assignment().stream().filter(queue -> queue.getTopic().equals(topic)).collect(Collectors.toSet());
    }

    @Override
    public void commit() throws MQClientException {
        consumer.commit(queues(), true);
    }

    @Override
    public void leave() throws InterruptedException {
        leaving = true;
        polling.join();
        consumer.shutdown();
    }

    @Override
    public Arrivals arrivals() {
        return arrivals;
    }
}
