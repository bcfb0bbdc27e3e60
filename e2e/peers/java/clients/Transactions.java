package clients;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;

/** Sends messages whose fate a transaction decides: at once, or when the broker asks about it. */
final class Transactions implements TransactionListener {
    private static final int MESSAGES_OF_EACH_FATE = 25;
    /** After how long the broker asks about an undecided one, in s. */
    private static final String ASK_AFTER = "1";

    /** What the transaction says when the message is sent, and when it is asked. */
    private enum Fate {
        COMMITTED, ROLLED_BACK, COMMITTED_WHEN_ASKED, ROLLED_BACK_WHEN_ASKED;

        static final Set<Fate> UNDECIDED = EnumSet.of(COMMITTED_WHEN_ASKED, ROLLED_BACK_WHEN_ASKED);
        static final Set<Fate> ARRIVING = EnumSet.of(COMMITTED, COMMITTED_WHEN_ASKED);

        static Fate of(Message message) {
            return valueOf(Sent.bodyOf(message).split(" ")[0]);
        }

        LocalTransactionState decision() {
            return ARRIVING.contains(this) ? LocalTransactionState.COMMIT_MESSAGE : LocalTransactionState.ROLLBACK_MESSAGE;
        }
    }

    private final Cluster cluster;
    private final String topic;
    private final Sent sent = new Sent();
    /** How often the broker has asked, by message id. */
    private final Map<String, Integer> asked = new ConcurrentHashMap<>();

    Transactions(Cluster cluster, String topic) {
        this.cluster = cluster;
        this.topic = topic;
    }

    @Override
    public LocalTransactionState executeLocalTransaction(Message message, Object fate) {
        return Fate.UNDECIDED.contains(fate) ? LocalTransactionState.UNKNOW : ((Fate) fate).decision();
    }

    @Override
    public LocalTransactionState checkLocalTransaction(MessageExt message) {
        asked.merge(Sent.idOf(message), 1, Integer::sum);
        return Fate.of(message).decision();
    }

    String run() throws Exception {
        Member consumer = Member.of("push", cluster, topic + "-group", topic, false);
        consumer.start();
        TransactionMQProducer producer = cluster.transactionProducer(topic + "-producer");
        producer.setTransactionListener(this);
        producer.start();
        for (int i = 0; i < MESSAGES_OF_EACH_FATE; i++) {
            for (Fate fate : Fate.values()) {
                send(producer, fate, i);
            }
        }
        int undecided = MESSAGES_OF_EACH_FATE * Fate.UNDECIDED.size();
        Eventually.holds("a question about every undecided message", () -> asked.size() == undecided);
        Eventually.holds("all committed messages", () -> consumer.arrivals().count() == sent.count());
        producer.shutdown();
        consumer.leave();
        account(consumer.arrivals());
        return "arrived=" + consumer.arrivals().count() + " asked=" + asked.size();
    }

    private void send(TransactionMQProducer producer, Fate fate, int number) throws Exception {
        Message message = Sent.message(topic, fate + " " + number);
        if (Fate.UNDECIDED.contains(fate)) {
            message.putUserProperty(MessageConst.PROPERTY_CHECK_IMMUNITY_TIME_IN_SECONDS, ASK_AFTER);
        }
        producer.sendMessageInTransaction(message, fate);
        if (Fate.ARRIVING.contains(fate)) {
            sent.add(message);
        }
    }

    /** A broker that asks again before the answer has reached it may take a message as often as it has asked. */
    private void account(Arrivals arrivals) throws Exception {
        arrivals.mustBe(sent);
        long total = 0;
        for (String id : sent.bodies().keySet()) {
            int times = arrivals.timesOf(id);
            if (times > asked.getOrDefault(id, 1)) {
                throw new IllegalStateException(sent.bodies().get(id) + " arrived " + times + " times");
            }
            total += times;
        }
        if (cluster.stored(topic) != total) {
            throw new IllegalStateException(cluster.stored(topic) + " messages stored, " + total + " arrived");
        }
    }
}
