import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.apis.ClientConfiguration;
import org.apache.rocketmq.client.apis.ClientServiceProvider;
import org.apache.rocketmq.client.apis.consumer.ConsumeResult;
import org.apache.rocketmq.client.apis.consumer.FilterExpression;
import org.apache.rocketmq.client.apis.producer.Producer;

/**
 * Sends numbered messages through a proxy and counts how often each comes back.
 *
 * <p>Arguments: address of the proxy's gRPC server, topic, consumer group, number of messages. Topic and group have to
 * exist. The last line is "OK sent=N received=N duplicates=0"; anything else ends with "FAILED …" and exit status 1.
 */
public final class GrpcRoundTrip {
    /** Long: a message whose way to a slow consumer took too long stays invisible for a minute before it comes again. */
    private static final long RECEIVE_LIMIT_SECONDS = 300;
    /** How long the consumer listens on after the last expected message: only then can a duplicate be seen. */
    private static final long SETTLE_MILLIS = 1000;

    private final ClientServiceProvider provider = ClientServiceProvider.loadService();
    private final ClientConfiguration configuration;
    private final String topic;
    private final int count;

    private GrpcRoundTrip(String endpoint, String topic, int count) {
        this.configuration = ClientConfiguration.newBuilder()
            .setEndpoints(endpoint)
            .enableSsl(false)
            .setRequestTimeout(Duration.ofSeconds(30))
            .build();
        this.topic = topic;
        this.count = count;
    }

    /** The clients leave threads behind, also after an exception: every way out is explicit. */
    public static void main(String[] args) {
        try {
            System.exit(new GrpcRoundTrip(args[0], args[1], Integer.parseInt(args[3])).run(args[2]) ? 0 : 1);
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.out.println("FAILED " + failure);
            System.exit(1);
        }
    }

    private boolean run(String group) throws Exception {
        Map<String, Integer> arrivals = new ConcurrentHashMap<>();
        CountDownLatch missing = new CountDownLatch(count);
        // Before the messages are sent: a new group may begin at the end of a queue. Nobody closes the consumer, which
        // would take as long as its longest poll: the end of the process does as well.
        provider.newPushConsumerBuilder()
            .setClientConfiguration(configuration)
            .setConsumerGroup(group)
            .setSubscriptionExpressions(Collections.singletonMap(topic, FilterExpression.SUB_ALL))
            .setMessageListener(message -> {
                if (arrivals.merge(text(message.getBody()), 1, Integer::sum) == 1) {
                    missing.countDown();
                }
                return ConsumeResult.SUCCESS;
            })
            .build();
        send();
        if (missing.await(RECEIVE_LIMIT_SECONDS, TimeUnit.SECONDS)) {
            Thread.sleep(SETTLE_MILLIS);
        }
        int duplicates = arrivals.values().stream().mapToInt(times -> times - 1).sum();
        boolean ok = arrivals.size() == count && duplicates == 0;
        System.out.printf("%s sent=%d received=%d duplicates=%d%n", ok ? "OK" : "FAILED", count, arrivals.size(), duplicates);
        return ok;
    }

    /** A send that fails throws. */
    private void send() throws Exception {
        // A repeated send could be the cause of a duplicate: a failure has to show as one.
        try (Producer producer = provider.newProducerBuilder()
            .setClientConfiguration(configuration)
            .setTopics(topic)
            .setMaxAttempts(1)
            .build()) {
            for (int i = 0; i < count; i++) {
                byte[] body = Integer.toString(i).getBytes(StandardCharsets.UTF_8);
                producer.send(provider.newMessageBuilder().setTopic(topic).setBody(body).build());
            }
        }
    }

    private static String text(ByteBuffer body) {
        return StandardCharsets.UTF_8.decode(body).toString();
    }
}
