import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.TopicConfig;
import org.apache.rocketmq.common.constant.PermName;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.remoting.RPCHook;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;
import org.apache.rocketmq.tools.admin.DefaultMQAdminExt;

/**
 * Sends to a topic whose order configuration may be none, and to others, through one producer. Then the others get more queues,
 * and after some rounds of polls it tells what the producer knows of that.
 *
 * <p>Arguments: nameserver, broker address, topic. The one line that it says is "sent OUTCOME, stale N of M": OUTCOME is ok or the
 * class of what the send to the topic threw, N the number of other topics of which the producer still sees the queues from before.
 */
public final class OrderTypo {
    private static final int OTHERS = 16;
    private static final int QUEUES = 2;
    /** Polls of the topic that begin after the change; each of them ends or goes on with one round of all topics. */
    private static final int ROUNDS = 3;
    private static final int POLL_MILLIS = 500;
    private static final int REQUEST_LIMIT_MILLIS = 30_000;
    private static final int GET_ROUTE = 105;

    private final String topic;
    private final DefaultMQProducer producer;
    private final DefaultMQAdminExt admin = new DefaultMQAdminExt(REQUEST_LIMIT_MILLIS);
    private final AtomicInteger polls = new AtomicInteger();
    private final List<String> others = new ArrayList<>();

    private OrderTypo(String nameserver, String topic) {
        this.topic = topic;
        for (int i = 0; i < OTHERS; i++) {
            others.add(topic + "-other-" + i);
        }
        producer = new DefaultMQProducer("typo-producer", new PollCounter());
        producer.setNamesrvAddr(nameserver);
        producer.setInstanceName("typo");
        producer.setPollNameServerInterval(POLL_MILLIS);
        producer.setSendMsgTimeout(REQUEST_LIMIT_MILLIS);
        producer.setMqClientApiTimeout(REQUEST_LIMIT_MILLIS);
        admin.setNamesrvAddr(nameserver);
        admin.setInstanceName("typo-admin");
    }

    /** The clients leave threads behind, also after an exception: every way out is explicit. */
    public static void main(String[] args) {
        try {
            System.out.println(new OrderTypo(args[0], args[2]).run(args[1]));
            System.exit(0);
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.out.println("ended by " + failure);
            System.exit(1);
        }
    }

    private String run(String broker) throws Exception {
        admin.start();
        producer.start();
        createTopics(broker, QUEUES);
        for (String other : others) {
            producer.send(new Message(other, new byte[1]));
        }
        String outcome = "ok";
        try {
            producer.send(new Message(topic, new byte[1]));
        } catch (Exception failure) {
            outcome = failure.getClass().getSimpleName();
        }
        createTopics(broker, QUEUES + 1);
        int before = polls.get();
        await(() -> polls.get() > before + ROUNDS);
        long stale = others.stream().filter(other -> queuesInUse(other) == QUEUES).count();
        return "sent " + outcome + ", stale " + stale + " of " + OTHERS;
    }

    private void createTopics(String broker, int queues) throws Exception {
        List<String> all = new ArrayList<>(others);
        all.add(topic);
        for (String name : all) {
            admin.createAndUpdateTopicConfig(broker, new TopicConfig(name, queues, queues, PermName.PERM_READ | PermName.PERM_WRITE));
            await(() -> admin.examineTopicRouteInfo(name).getQueueDatas().get(0).getWriteQueueNums() == queues);
        }
    }

    private int queuesInUse(String name) {
        return producer.getDefaultMQProducerImpl().getTopicPublishInfoTable().get(name).getMessageQueueList().size();
    }

    private static void await(Callable<Boolean> condition) throws InterruptedException {
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(120);
        Exception reason = null;
        while (System.nanoTime() < limit) {
            try {
                if (condition.call()) {
                    return;
                }
            } catch (Exception notYet) {
                reason = notYet;
            }
            Thread.sleep(20);
        }
        throw new IllegalStateException("time is over", reason);
    }

    /** Counts the answers to the producer's queries for the topic's route. */
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
