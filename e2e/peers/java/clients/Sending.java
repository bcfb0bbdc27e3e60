package clients;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;

/** The ways to send that need nothing but a producer. A push consumer takes what comes. */
final class Sending {
    private static final int MESSAGES = 100;
    private static final int BATCH = 10;
    private static final int DELAY_LEVEL = 1;
    private static final long DELAY_MILLIS = 1000;
    private static final long ANSWERS_LIMIT_SECONDS = 60;

    private final String topic;
    private final Cluster cluster;
    private final DefaultMQProducer producer;
    private final Member consumer;
    private final Sent sent = new Sent();

    Sending(Cluster cluster, String topic) throws Exception {
        this.topic = topic;
        this.cluster = cluster;
        this.producer = cluster.producer(topic + "-producer");
        this.consumer = Member.of("push", cluster, topic + "-group", topic, false);
    }

    /** Sends in a way, and accounts for every message. */
    String run(String way) throws Exception {
        consumer.start();
        producer.start();
        Eventually.holds("queues at the consumer", () -> !consumer.queues().isEmpty());
        switch (way) {
            case "synchronous":
                synchronously();
                break;
            case "asynchronous":
                asynchronously();
                break;
            case "one-way":
                oneWay();
                break;
            case "batch":
                inBatches();
                break;
            case "delayed":
                delayed();
                break;
            default:
                throw new IllegalArgumentException("no such way to send: " + way);
        }
        awaitArrival();
        producer.shutdown();
        consumer.leave();
        consumer.arrivals().mustBeOnceEach(sent);
        return "messages=" + sent.count();
    }

    private void awaitArrival() throws InterruptedException {
        Eventually.holds("all messages", () -> consumer.arrivals().count() == sent.count());
        Eventually.holds("no message twice at the broker", () -> cluster.stored(topic) == sent.count());
    }

    private Message message(int number) {
        return Sent.message(topic, "message " + number);
    }

    private void synchronously() throws Exception {
        for (int i = 0; i < MESSAGES; i++) {
            Message message = message(i);
            SendResult result = producer.send(message);
            sent.add(message);
            if (!result.getMsgId().equals(Sent.idOf(message))) {
                throw new IllegalStateException("message " + Sent.idOf(message) + " has the result " + result);
            }
        }
    }

    private void asynchronously() throws Exception {
        CountDownLatch answers = new CountDownLatch(MESSAGES);
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        for (int i = 0; i < MESSAGES; i++) {
            Message message = message(i);
            producer.send(message, new SendCallback() {
                @Override
                public void onSuccess(SendResult result) {
                    sent.add(message);
                    answers.countDown();
                }

                @Override
                public void onException(Throwable failure) {
                    failures.add(failure);
                    answers.countDown();
                }
            });
        }
        if (!answers.await(ANSWERS_LIMIT_SECONDS, TimeUnit.SECONDS) || !failures.isEmpty()) {
            throw new IllegalStateException(answers.getCount() + " sends without an answer, failures: " + failures);
        }
    }

    private void oneWay() throws Exception {
        for (int i = 0; i < MESSAGES; i++) {
            Message message = message(i);
            producer.sendOneway(message);
            sent.add(message);
        }
    }

    private void inBatches() throws Exception {
        for (int i = 0; i < MESSAGES; i += BATCH) {
            List<Message> batch = new ArrayList<>();
            for (int j = i; j < i + BATCH; j++) {
                batch.add(message(j));
            }
            producer.send(batch);
            batch.forEach(sent::add);
        }
    }

    /** No message may arrive before its time. */
    private void delayed() throws Exception {
        List<Message> messages = new ArrayList<>();
        List<Long> sentAt = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            Message message = message(i);
            message.setDelayTimeLevel(DELAY_LEVEL);
            sentAt.add(System.currentTimeMillis());
            producer.send(message);
            sent.add(message);
            messages.add(message);
        }
        awaitArrival();
        for (int i = 0; i < MESSAGES; i++) {
            long after = consumer.arrivals().firstAt(Sent.idOf(messages.get(i))) - sentAt.get(i);
            if (after < DELAY_MILLIS) {
                throw new IllegalStateException("message " + i + " arrived after " + after + " ms");
            }
        }
    }
}
