import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

/**
 * Sends numbered messages to one topic after another and counts how often each comes back.
 *
 * <p>Argument: nameserver address. Standard input has one command a line, "TOPIC COUNT"; the answer on standard output
 * is "OK sent=N received=N duplicates=0", or "FAILED …".
 */
public final class RoundTrips {
    private static final long RECEIVE_LIMIT_SECONDS = 120;
    /** For what takes a client some milliseconds on a machine that isn't busy. */
    private static final int CALL_LIMIT_MILLIS = 30_000;
    /** How long a consumer listens on after the last expected message: only then can a duplicate be seen. */
    private static final long SETTLE_MILLIS = 300;

    private final String nameserver;
    private final DefaultMQProducer producer = new DefaultMQProducer("RoundTrips");

    private RoundTrips(String nameserver) {
        this.nameserver = nameserver;
        producer.setNamesrvAddr(nameserver);
        // A repeated send could be the cause of a duplicate: a failure has to show as one.
        producer.setRetryTimesWhenSendFailed(0);
        producer.setSendMsgTimeout(CALL_LIMIT_MILLIS);
        producer.setMqClientApiTimeout(CALL_LIMIT_MILLIS);
    }

    /** The clients leave threads behind: the way out is explicit. */
    public static void main(String[] args) throws Exception {
        System.setProperty("com.rocketmq.remoting.client.connect.timeout", Integer.toString(CALL_LIMIT_MILLIS));
        RoundTrips trips = new RoundTrips(args[0]);
        trips.producer.start();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ");
            try {
                System.out.println(trips.run(words[0], Integer.parseInt(words[1])));
            } catch (Exception failure) {
                failure.printStackTrace();
                System.out.println("FAILED " + failure);
            }
        }
        System.exit(0);
    }

    private String run(String topic, int count) throws Exception {
        int sent = send(topic, count);
        Map<String, Integer> arrivals = receive(topic, count);
        int duplicates = arrivals.values().stream().mapToInt(times -> times - 1).sum();
        for (int i = 0; i < count; i++) {
            if (!arrivals.containsKey(Integer.toString(i))) {
                return String.format("FAILED sent=%d received=%d, lacks message %d", sent, arrivals.size(), i);
            }
        }
        boolean ok = sent == count && arrivals.size() == count && duplicates == 0;
        return String.format("%s sent=%d received=%d duplicates=%d", ok ? "OK" : "FAILED", sent, arrivals.size(), duplicates);
    }

    private int send(String topic, int count) throws Exception {
        int sent = 0;
        for (int i = 0; i < count; i++) {
            byte[] body = Integer.toString(i).getBytes(StandardCharsets.UTF_8);
            if (producer.send(new Message(topic, body)).getSendStatus() == SendStatus.SEND_OK) {
                sent++;
            }
        }
        return sent;
    }

    /** Returns how often each body came. */
    private Map<String, Integer> receive(String topic, int count) throws Exception {
        Map<String, Integer> arrivals = new ConcurrentHashMap<>();
        CountDownLatch missing = new CountDownLatch(count);
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(topic + "-consumer");
        consumer.setNamesrvAddr(nameserver);
        consumer.setMqClientApiTimeout(CALL_LIMIT_MILLIS);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(message -> {
                if (arrivals.merge(new String(message.getBody(), StandardCharsets.UTF_8), 1, Integer::sum) == 1) {
                    missing.countDown();
                }
            });
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        if (missing.await(RECEIVE_LIMIT_SECONDS, TimeUnit.SECONDS)) {
            Thread.sleep(SETTLE_MILLIS);
        }
        consumer.shutdown();
        return arrivals;
    }
}
