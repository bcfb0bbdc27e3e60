package clients;

import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.exception.MQBrokerException;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;

/**
 * Sends messages one after another and receives them. The topic need not exist: the producer then finds its route
 * through the default topic, as a new producer does anywhere.
 */
final class RoundTrip {
    private final Cluster cluster;
    private final String topic;
    private final int count;
    private final Sent sent = new Sent();

    RoundTrip(Cluster cluster, String topic, int count) {
        this.cluster = cluster;
        this.topic = topic;
        this.count = count;
    }

    String run(String consumerKind) throws Exception {
        long started = System.nanoTime();
        send();
        long sentAt = System.nanoTime();
        Member consumer = Member.of(consumerKind, cluster, topic + "-" + consumerKind, topic, false);
        consumer.start();
        Eventually.holds("all messages", () -> consumer.arrivals().count() == sent.count());
        Eventually.holds("no message twice at the broker", () -> cluster.stored(topic) == sent.count());
        consumer.leave();
        consumer.arrivals().mustBeOnceEach(sent);
        return String.format("messages=%d sent in %d ms, received in %d ms", sent.count(),
            TimeUnit.NANOSECONDS.toMillis(sentAt - started), TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sentAt));
    }

    private void send() throws Exception {
        DefaultMQProducer producer = cluster.producer(topic + "-producer");
        producer.start();
        try {
            for (int i = 0; i < count; i++) {
                Message message = Sent.message(topic, "message " + i);
                SendResult result = producer.send(message);
                if (result.getSendStatus() != SendStatus.SEND_OK) {
                    throw new IllegalStateException("message " + i + ": " + result);
                }
                sent.add(message);
            }
        } finally {
            producer.shutdown();
        }
    }

    /** Sends in vain, and says why. */
    String refusal() throws Exception {
        try {
            send();
        } catch (MQClientException | MQBrokerException refusal) {
            Throwable reason = refusal.getCause() == null ? refusal : refusal.getCause();
            return reason.getMessage().replaceAll("\\s+", " ");
        }
        throw new IllegalStateException("the message was taken");
    }
}
