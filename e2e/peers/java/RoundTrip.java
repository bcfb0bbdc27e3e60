import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * Sends numbered messages one after another and counts how often each comes back.
 *
 * <p>Arguments: nameserver address, topic, number of messages, kind of consumer (push or litepull). The topic need not
 * exist: the producer then finds its route through the default topic, as a new producer does anywhere. The last line
 * is "OK sent=N received=N duplicates=0"; anything else ends with "FAILED …" and exit status 1.
 */
public final class RoundTrip {
    private static final long RECEIVE_LIMIT_SECONDS = 60;
    /** How long a consumer listens on after the last expected message: only then can a duplicate be seen. */
    private static final long SETTLE_MILLIS = 1000;

    private final String nameserver;
    private final String topic;
    private final int count;
    private final AtomicIntegerArray arrivals;
    private final AtomicInteger strangers = new AtomicInteger();
    private final CountDownLatch missing;

    private RoundTrip(String nameserver, String topic, int count) {
        this.nameserver = nameserver;
        this.topic = topic;
        this.count = count;
        this.arrivals = new AtomicIntegerArray(count);
        this.missing = new CountDownLatch(count);
    }

    /** The clients leave threads behind, also after an exception: every way out is explicit. */
    public static void main(String[] args) {
        if (args.length != 4) {
            System.err.println("usage: RoundTrip NAMESERVER TOPIC COUNT push|litepull");
            System.exit(2);
        }
        try {
            System.exit(new RoundTrip(args[0], args[1], Integer.parseInt(args[2])).run(args[3]) ? 0 : 1);
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.out.println("FAILED " + failure);
            System.exit(1);
        }
    }

    private boolean run(String consumer) throws Exception {
        int sent = send();
        long started = System.nanoTime();
        switch (consumer) {
            case "push":
                receiveByPush();
                break;
            case "litepull":
                receiveByLitePull();
                break;
            default:
                throw new IllegalArgumentException("no such consumer: " + consumer);
        }
        System.out.printf("received by %s in %d ms%n", consumer, millisSince(started));
        return report(sent);
    }

    private int send() throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer(topic + "-producer");
        producer.setNamesrvAddr(nameserver);
        // A repeated send could be the cause of a duplicate: a failure has to show as one.
        producer.setRetryTimesWhenSendFailed(0);
        producer.setSendMsgTimeout(10_000);
        producer.start();
        long started = System.nanoTime();
        int sent = 0;
        for (int i = 0; i < count; i++) {
            byte[] body = Integer.toString(i).getBytes(StandardCharsets.UTF_8);
            SendResult result = producer.send(new Message(topic, body));
            if (result.getSendStatus() == SendStatus.SEND_OK) {
                sent++;
            } else {
                System.out.println("message " + i + ": " + result);
            }
        }
        System.out.printf("sent in %d ms%n", millisSince(started));
        producer.shutdown();
        return sent;
    }

    private void receiveByPush() throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(topic + "-push");
        consumer.setNamesrvAddr(nameserver);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            take(messages);
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        if (missing.await(RECEIVE_LIMIT_SECONDS, TimeUnit.SECONDS)) {
            Thread.sleep(SETTLE_MILLIS);
        }
        consumer.shutdown();
    }

    private void receiveByLitePull() throws Exception {
        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer(topic + "-litepull");
        consumer.setNamesrvAddr(nameserver);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.start();
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(RECEIVE_LIMIT_SECONDS);
        while (missing.getCount() > 0 && System.nanoTime() < limit) {
            take(consumer.poll(200));
        }
        take(consumer.poll(SETTLE_MILLIS));
        consumer.shutdown();
    }

    private void take(List<MessageExt> messages) {
        for (MessageExt message : messages) {
            int number = Integer.parseInt(new String(message.getBody(), StandardCharsets.UTF_8));
            if (number < 0 || number >= count) {
                strangers.incrementAndGet();
            } else if (arrivals.incrementAndGet(number) == 1) {
                missing.countDown();
            }
        }
    }

    private boolean report(int sent) {
        int received = 0;
        int duplicates = 0;
        for (int i = 0; i < count; i++) {
            int times = arrivals.get(i);
            received += times > 0 ? 1 : 0;
            duplicates += Math.max(0, times - 1);
        }
        boolean ok = sent == count && received == count && duplicates == 0 && strangers.get() == 0;
        String counts = String.format("sent=%d received=%d duplicates=%d", sent, received, duplicates);
        System.out.println(ok ? "OK " + counts
            : String.format("FAILED %s missing=%d strangers=%d", counts, count - received, strangers.get()));
        return ok;
    }

    private static long millisSince(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
    }
}
