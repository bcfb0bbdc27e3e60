import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.ClientConfig;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * Sends numbered messages to a topic without a pause, receives them in a consumer group, and accounts for each.
 *
 * <p>Arguments: nameserver addresses, or - for none, which leaves them to the address server of rocketmq.namesrv.domain, topic and, if more than
 * one, the number of clients, which take turns to send. The system property flow.unit is the clients' unit. Producer and
 * consumer share a client, as programs that use both do; its retries are the default ones. It says "ready" after the first message has come back, and "failed …" for each send that
 * threw or was not stored. Commands on standard input:
 *
 * <ul>
 *   <li>report: answered by "report " and the counts
 *   <li>fresh: a client that starts now sends one message, which counts like the others; answered by "fresh ok …" or
 *       "fresh failed …"
 *   <li>stop: sends no more, waits until all that was stored has been received, says "final " and the counts, and ends
 * </ul>
 *
 * <p>Counts since the start: sent (stored by a broker), failed, received, duplicates, missing (sent and not received),
 * polls (answered route queries for the topic, of all clients), slowest (milliseconds of the longest send), and for each broker BROKER
 * (sent) and BROKER.missing.
 */
public final class Flow {
    private static final long PERIOD_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
    private static final int POLL_MILLIS = 1000;
    /** For a request, of any kind; more than the default 3 s, which a crowded machine may need. */
    private static final int REQUEST_LIMIT_MILLIS = 10_000;
    private static final long RECEIVE_LIMIT_SECONDS = 60;
    private static final int GET_ROUTE = 105;

    private static final String NO_NAMESERVERS = "-";

    private final String nameservers;
    private final String topic;
    private final int clients;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final AtomicInteger polls = new AtomicInteger();
    private final AtomicLong slowestMillis = new AtomicLong();
    /** The broker that stored a message, by the message's number. */
    private final Map<Integer, String> stored = new ConcurrentHashMap<>();
    /** How often a message has come, by its number. */
    private final Map<Integer, Integer> arrivals = new ConcurrentHashMap<>();
    private final CountDownLatch firstArrival = new CountDownLatch(1);
    private volatile boolean stopping;

    private Flow(String nameservers, String topic, int clients) {
        this.nameservers = nameservers;
        this.topic = topic;
        this.clients = clients;
    }

    /** The clients leave threads behind, also after an exception: every way out is explicit. */
    public static void main(String[] args) {
        if (args.length != 2 && args.length != 3) {
            System.err.println("usage: Flow NAMESERVERS TOPIC [CLIENTS]");
            System.exit(2);
        }
        // Queues of a new broker are shared out at the next rebalance; the client reads the period when its class is loaded.
        System.setProperty("rocketmq.client.rebalance.waitInterval", "1000");
        try {
            new Flow(args[0], args[1], args.length == 3 ? Integer.parseInt(args[2]) : 1).run();
            System.exit(0);
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.out.println("ended by " + failure);
            System.exit(1);
        }
    }

    private void run() throws Exception {
        List<DefaultMQProducer> producers = new ArrayList<>();
        List<DefaultMQPushConsumer> consumers = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            producers.add(startProducer("flow-" + i));
            consumers.add(startConsumer("flow-" + i));
        }
        Thread sender = new Thread(() -> sendSteadily(producers), "sender");
        sender.start();
        firstArrival.await();
        System.out.println("ready");
        obey();
        stopping = true;
        sender.join();
        awaitMissing();
        System.out.println("final " + counts());
        consumers.forEach(DefaultMQPushConsumer::shutdown);
        producers.forEach(DefaultMQProducer::shutdown);
    }

    private DefaultMQProducer startProducer(String client) throws MQClientException {
        DefaultMQProducer producer = new DefaultMQProducer(topic + "-producer", new PollCounter());
        configure(producer, client);
        producer.setSendMsgTimeout(REQUEST_LIMIT_MILLIS);
        producer.start();
        return producer;
    }

    private void configure(ClientConfig client, String instance) {
        if (!nameservers.equals(NO_NAMESERVERS)) {
            client.setNamesrvAddr(nameservers);
        }
        client.setUnitName(System.getProperty("flow.unit"));
        client.setInstanceName(instance);
        client.setPollNameServerInterval(POLL_MILLIS);
        client.setHeartbeatBrokerInterval(1000);
        client.setMqClientApiTimeout(REQUEST_LIMIT_MILLIS);
    }

    private DefaultMQPushConsumer startConsumer(String client) throws MQClientException {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(topic + "-consumer");
        configure(consumer, client);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            take(messages);
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        return consumer;
    }

    private void take(List<MessageExt> messages) {
        for (MessageExt message : messages) {
            arrivals.merge(Integer.valueOf(new String(message.getBody(), StandardCharsets.UTF_8)), 1, Integer::sum);
        }
        firstArrival.countDown();
    }

    private void sendSteadily(List<DefaultMQProducer> producers) {
        long due = System.nanoTime();
        for (int turn = 0; !stopping; turn = (turn + 1) % clients) {
            sendNext(producers.get(turn));
            // After a slow send the flow goes on at its pace; nothing is made up for.
            due = Math.max(due + PERIOD_NANOS, System.nanoTime());
            pauseUntil(due);
        }
    }

    private static void pauseUntil(long due) {
        try {
            TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts the sender", e);
        }
    }

    /** Sends the next number and returns what came of it, the first word being ok or failed. */
    private String sendNext(DefaultMQProducer producer) {
        int number = next.getAndIncrement();
        long started = System.nanoTime();
        String outcome;
        try {
            byte[] body = Integer.toString(number).getBytes(StandardCharsets.UTF_8);
            SendResult result = producer.send(new Message(topic, body));
            if (result.getSendStatus() == SendStatus.SEND_OK) {
                stored.put(number, result.getMessageQueue().getBrokerName());
            }
            outcome = (result.getSendStatus() == SendStatus.SEND_OK ? "ok " : "failed ") + result;
        } catch (Exception e) {
            outcome = "failed " + e;
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - started);
        slowestMillis.accumulateAndGet(millis, Math::max);
        if (outcome.startsWith("failed")) {
            failed.incrementAndGet();
            System.out.println("failed message " + number + " after " + millis + " ms: " + outcome);
        }
        return outcome;
    }

    private void obey() throws IOException {
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String command = commands.readLine(); command != null && !command.equals("stop"); command = commands.readLine()) {
            switch (command) {
                case "report":
                    System.out.println("report " + counts());
                    break;
                case "fresh":
                    System.out.println("fresh " + sendFresh());
                    break;
                default:
                    throw new IllegalArgumentException("no such command: " + command);
            }
        }
    }

    private String sendFresh() {
        DefaultMQProducer producer = new DefaultMQProducer("flow-fresh");
        configure(producer, "fresh-" + next.get());
        producer.setSendMsgTimeout(REQUEST_LIMIT_MILLIS);
        try {
            producer.start();
            return sendNext(producer);
        } catch (MQClientException e) {
            return "failed " + e;
        } finally {
            producer.shutdown();
        }
    }

    private void awaitMissing() throws InterruptedException {
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(RECEIVE_LIMIT_SECONDS);
        while (!arrivals.keySet().containsAll(stored.keySet()) && System.nanoTime() < limit) {
            Thread.sleep(50);
        }
    }

    private String counts() {
        Map<String, Integer> brokers = new TreeMap<>();
        int missing = 0;
        for (Map.Entry<Integer, String> message : stored.entrySet()) {
            int lacks = arrivals.containsKey(message.getKey()) ? 0 : 1;
            missing += lacks;
            brokers.merge(message.getValue(), 1, Integer::sum);
            brokers.merge(message.getValue() + ".missing", lacks, Integer::sum);
        }
        int duplicates = arrivals.values().stream().mapToInt(times -> times - 1).sum();
        StringBuilder text = new StringBuilder(String.format(
            "sent=%d failed=%d received=%d duplicates=%d missing=%d polls=%d slowest=%d",
            stored.size(), failed.get(), arrivals.size(), duplicates, missing, polls.get(), slowestMillis.get()));
        brokers.forEach((name, count) -> text.append(' ').append(name).append('=').append(count));
        return text.toString();
    }

    /** Counts the answers to a shared client's queries for the topic's route. */
    private final class PollCounter implements RPCHook {
        @Override
        public void doBeforeRequest(String remoteAddr, RemotingCommand request) {
        }

        @Override
        public void doAfterResponse(String remoteAddr, RemotingCommand request, RemotingCommand response) {
            if (request.getCode() == GET_ROUTE && topic.equals(request.getExtFields().get("topic"))) {
                polls.incrementAndGet();
            }
        }
    }
}
