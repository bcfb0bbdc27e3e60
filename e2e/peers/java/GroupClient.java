import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * A producer and a push consumer of one topic, which stay while brokers go and come back.
 *
 * <p>Arguments: nameserver address, topic, kind of listener (concurrently or orderly). Standard input has one command
 * a line, each answered by a line:
 *
 * <ul>
 *   <li>"send COUNT": "sent NAME=N … failed=N", by the broker names that took the messages
 *   <li>"delay LEVEL NAME" sends one message of a delay level to a broker name: "delaying STATUS"
 *   <li>"delayed": "delayed from NAME", the broker name from which the latest such message came
 *   <li>"hold" and "release" make the listener wait and go on: "holding", "released"
 *   <li>"counts": "counts sent=N missing=N repeated=N"
 * </ul>
 */
public final class GroupClient {
    private static final int SEND_TIMEOUT_MILLIS = 10_000;
    /** A client's start fails when a query takes longer: 3 s if it isn't told, which a crowded machine exceeds. */
    private static final int QUERY_TIMEOUT_MILLIS = 30_000;
    private static final int POLL_MILLIS = 1000;
    /** The consumer takes few messages ahead of its listener, so that a held one leaves most of them at the broker. */
    private static final int AHEAD_PER_QUEUE = 10;

    private final String topic;
    private final DefaultMQProducer producer;
    private final DefaultMQPushConsumer consumer;
    private final Set<Integer> sent = ConcurrentHashMap.newKeySet();
    private final Map<Integer, Integer> arrivals = new ConcurrentHashMap<>();
    private volatile String delayedFrom = "nobody";
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private int next;

    private GroupClient(String nameserver, String topic) {
        this.topic = topic;
        producer = new DefaultMQProducer(topic + "-producer");
        producer.setNamesrvAddr(nameserver);
        producer.setSendMsgTimeout(SEND_TIMEOUT_MILLIS);
        producer.setMqClientApiTimeout(QUERY_TIMEOUT_MILLIS);
        producer.setPollNameServerInterval(POLL_MILLIS);
        producer.setHeartbeatBrokerInterval(POLL_MILLIS);
        consumer = new DefaultMQPushConsumer(topic + "-consumer");
        consumer.setNamesrvAddr(nameserver);
        consumer.setMqClientApiTimeout(QUERY_TIMEOUT_MILLIS);
        consumer.setPollNameServerInterval(POLL_MILLIS);
        consumer.setHeartbeatBrokerInterval(POLL_MILLIS);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setPullBatchSize(AHEAD_PER_QUEUE);
        consumer.setPullThresholdForQueue(AHEAD_PER_QUEUE);
    }

    public static void main(String[] args) {
        // The client's own periods, 20 s, and an orderly consumer's lock of a queue, 30 s, would outlive a test.
        System.setProperty("rocketmq.client.rebalance.waitInterval", "1000");
        System.setProperty("com.rocketmq.remoting.client.connect.timeout", String.valueOf(QUERY_TIMEOUT_MILLIS));
        System.setProperty("rocketmq.client.rebalance.lockInterval", "1000");
        System.setProperty("rocketmq.client.rebalance.lockMaxLiveTime", "5000");
        try {
            GroupClient client = new GroupClient(args[0], args[1]);
            client.start(args[2].equals("orderly"));
            System.out.println("ready");
            BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = commands.readLine(); line != null; line = commands.readLine()) {
                System.out.println(client.answer(line.split(" ")));
            }
        } catch (Throwable failure) {
            failure.printStackTrace();
        }
        // The clients leave threads behind that would keep the virtual machine alive.
        Runtime.getRuntime().halt(0);
    }

    private void start(boolean orderly) throws Exception {
        consumer.subscribe(topic, "*");
        if (orderly) {
            consumer.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
                take(messages, context.getMessageQueue());
                return ConsumeOrderlyStatus.SUCCESS;
            });
        } else {
            consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                take(messages, context.getMessageQueue());
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
        }
        producer.start();
        consumer.start();
    }

    private String answer(String[] command) throws Exception {
        switch (command[0]) {
            case "send":
                return send(Integer.parseInt(command[1]));
            case "delay":
                return delay(Integer.parseInt(command[1]), command[2]);
            case "delayed":
                return "delayed from " + delayedFrom;
            case "hold":
                gate = new CountDownLatch(1);
                return "holding";
            case "release":
                gate.countDown();
                return "released";
            case "counts":
                return counts();
            default:
                throw new IllegalArgumentException("no such command: " + command[0]);
        }
    }

    private String send(int count) {
        Map<String, Integer> byBroker = new TreeMap<>();
        int failed = 0;
        for (int i = 0; i < count; i++) {
            Message message = numbered();
            try {
                SendResult result = producer.send(message);
                byBroker.merge(result.getMessageQueue().getBrokerName(), 1, Integer::sum);
                sent.add(number(message));
            } catch (Exception failure) {
                failure.printStackTrace();
                failed++;
            }
        }
        StringBuilder answer = new StringBuilder("sent");
        byBroker.forEach((name, taken) -> answer.append(' ').append(name).append('=').append(taken));
        return answer + " failed=" + failed;
    }

    private String delay(int level, String brokerName) throws Exception {
        Message message = numbered();
        message.setDelayTimeLevel(level);
        message.putUserProperty("delayed", "true");
        SendResult result = producer.send(message, new MessageQueue(topic, brokerName, 0));
        if (result.getSendStatus() == SendStatus.SEND_OK) {
            sent.add(number(message));
        }
        return "delaying " + result.getSendStatus();
    }

    private Message numbered() {
        return new Message(topic, Integer.toString(next++).getBytes(StandardCharsets.UTF_8));
    }

    private static int number(Message message) {
        return Integer.parseInt(new String(message.getBody(), StandardCharsets.UTF_8));
    }

    private void take(List<MessageExt> messages, MessageQueue queue) {
        try {
            gate.await();
        } catch (InterruptedException end) {
            Thread.currentThread().interrupt();
        }
        for (MessageExt message : messages) {
            arrivals.merge(number(message), 1, Integer::sum);
            if (message.getUserProperty("delayed") != null) {
                delayedFrom = queue.getBrokerName();
            }
        }
    }

    private String counts() {
        long missing = sent.stream().filter(number -> !arrivals.containsKey(number)).count();
        long repeated = arrivals.values().stream().mapToLong(times -> times - 1).sum();
        return String.format("counts sent=%d missing=%d repeated=%d", sent.size(), missing, repeated);
    }
}
