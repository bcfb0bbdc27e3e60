package clients;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/** Sends steps of several keys in turn, all steps of a key to one queue, and receives each key's steps in order. */
final class Ordered {
    private static final int KEYS = 20;
    private static final int STEPS = 10;

    private final Cluster cluster;
    private final String topic;
    /** The queues that the topic has for producers, "broker/number". */
    private final Set<String> queues = new TreeSet<>();
    /** Tells this run's messages from those that the topic had before. */
    private final String tag = "run-" + System.nanoTime();
    private final Map<String, List<Integer>> stepsOfKey = new HashMap<>();
    private final Map<String, Set<String>> queuesOfKey = new HashMap<>();

    /** Takes the numbers of queues as an order configuration writes them: BROKER:QUEUES;BROKER:QUEUES. */
    Ordered(Cluster cluster, String topic, String configuration) {
        this.cluster = cluster;
        this.topic = topic;
        for (String broker : configuration.split(";")) {
            String[] parts = broker.split(":");
            for (int i = 0; i < Integer.parseInt(parts[1]); i++) {
                queues.add(parts[0] + "/" + i);
            }
        }
    }

    String run() throws Exception {
        DefaultMQPushConsumer consumer = cluster.pushConsumer(topic + "-" + tag);
        consumer.subscribe(topic, tag);
        consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
            take(messages, nameOf(context.getMessageQueue()));
            return ConsumeOrderlyStatus.SUCCESS;
        });
        consumer.start();
        send();
        Eventually.holds("all steps", () -> arrived() >= KEYS * STEPS);
        consumer.shutdown();
        check();
        return "messages=" + arrived() + " queues=" + queues.size();
    }

    private static String nameOf(MessageQueue queue) {
        return queue.getBrokerName() + "/" + queue.getQueueId();
    }

    private void send() throws Exception {
        DefaultMQProducer producer = cluster.producer(topic + "-producer");
        producer.start();
        Set<String> seen = producer.fetchPublishMessageQueues(topic).stream()
            .map(Ordered::nameOf).collect(Collectors.toSet());
        if (!seen.equals(queues)) {
            throw new IllegalStateException("the producer sees the queues " + seen + ", not " + queues);
        }
        for (int step = 0; step < STEPS; step++) {
            for (int key = 0; key < KEYS; key++) {
                Message message = Sent.message(topic, Integer.toString(step));
                message.setTags(tag);
                message.setKeys("key-" + key);
                producer.send(message, (choice, sent, number) -> choice.get((Integer) number % choice.size()), key);
            }
        }
        producer.shutdown();
    }

    private synchronized void take(List<MessageExt> messages, String queue) {
        for (MessageExt message : messages) {
            stepsOfKey.computeIfAbsent(message.getKeys(), key -> new ArrayList<>()).add(Integer.parseInt(Sent.bodyOf(message)));
            queuesOfKey.computeIfAbsent(message.getKeys(), key -> new HashSet<>()).add(queue);
        }
    }

    private synchronized int arrived() {
        return stepsOfKey.values().stream().mapToInt(List::size).sum();
    }

    private synchronized void check() {
        List<Integer> inOrder = IntStream.range(0, STEPS).boxed().collect(Collectors.toList());
        Set<String> used = new HashSet<>();
        for (int key = 0; key < KEYS; key++) {
            List<Integer> steps = stepsOfKey.get("key-" + key);
            Set<String> queue = queuesOfKey.get("key-" + key);
            if (!inOrder.equals(steps) || queue.size() != 1) {
                throw new IllegalStateException("key " + key + ": steps " + steps + " from the queues " + queue);
            }
            used.addAll(queue);
        }
        if (!used.equals(queues)) {
            throw new IllegalStateException("messages came from the queues " + used + ", not " + queues);
        }
    }
}
