package clients;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageQueue;

/** A group of consumers, each an instance of its own, on a topic of three queues. */
final class Group {
    private static final int QUEUES = 3;
    private static final int MESSAGES = 100;

    private final Cluster cluster;
    private final String topic;
    private final String kind;
    private final Sent sent = new Sent();
    private final List<Member> members = new ArrayList<>();
    private final List<Arrivals> everybodys = new ArrayList<>();

    Group(Cluster cluster, String topic, String kind) {
        this.cluster = cluster;
        this.topic = topic;
        this.kind = kind;
    }

    private String name() {
        return topic + "-group";
    }

    private Member join(boolean broadcasting) throws Exception {
        Member member = Member.of(kind, cluster, name(), topic, broadcasting);
        members.add(member);
        everybodys.add(member.arrivals());
        member.start();
        return member;
    }

    /** Members share the queues, each message goes to one of them; members come and go. */
    String share() throws Exception {
        DefaultMQProducer producer = cluster.producer(topic + "-producer");
        producer.start();
        join(false);
        join(false);
        awaitShares(1, 2);
        sendToOne(producer);
        Member third = join(false);
        awaitShares(1, 1, 1);
        sendToOne(producer);
        members.remove(third);
        third.leave();
        awaitShares(1, 2);
        sendToOne(producer);
        end(producer);
        Arrivals.together(everybodys).mustBeOnceEach(sent);
        return "shares=2+1,1+1+1,2+1 messages=" + sent.count();
    }

    /** Waits until the members read so many queues each, and every queue is read by one of them. */
    private void awaitShares(Integer... want) throws InterruptedException {
        Eventually.holds("shares of " + Arrays.toString(want), () -> {
            List<Integer> shares = new ArrayList<>();
            Set<MessageQueue> read = new HashSet<>();
            for (Member member : members) {
                Set<MessageQueue> queues = member.queues();
                shares.add(queues.size());
                read.addAll(queues);
            }
            shares.sort(null);
            return shares.equals(Arrays.asList(want)) && read.size() == QUEUES;
        });
    }

    /**
     * Sends to all queues and waits until all is consumed and the broker knows. A queue that changes hands before that
     * may be read twice from where the broker last knew.
     */
    private void sendToOne(DefaultMQProducer producer) throws Exception {
        List<Integer> before = counts();
        send(producer);
        Eventually.holds("all messages at one member", () -> Arrivals.together(everybodys).count() == sent.count());
        Eventually.holds("offsets at the broker", () -> {
            for (Member member : members) {
                member.commit();
            }
            return cluster.consumed(topic, name()) == sent.count();
        });
        List<Integer> after = counts();
        for (int i = 0; i < before.size(); i++) {
            if (after.get(i) <= before.get(i)) {
                throw new IllegalStateException("members had " + before + " messages and now have " + after);
            }
        }
    }

    private List<Integer> counts() {
        return members.stream().map(member -> member.arrivals().count()).collect(Collectors.toList());
    }

    /** Every member gets every message. */
    String broadcast() throws Exception {
        DefaultMQProducer producer = cluster.producer(topic + "-producer");
        producer.start();
        join(true);
        join(true);
        for (Member member : members) {
            Eventually.holds("all queues at every member", () -> member.queues().size() == QUEUES);
        }
        send(producer);
        for (Member member : members) {
            Eventually.holds("all messages at every member", () -> member.arrivals().count() == sent.count());
        }
        end(producer);
        for (Arrivals arrivals : everybodys) {
            arrivals.mustBeOnceEach(sent);
        }
        return "members=" + members.size() + " messages=" + sent.count();
    }

    private void send(DefaultMQProducer producer) throws Exception {
        for (int i = 0; i < MESSAGES; i++) {
            Message message = Sent.message(topic, "message " + sent.count());
            producer.send(message);
            sent.add(message);
        }
    }

    private void end(DefaultMQProducer producer) throws InterruptedException {
        producer.shutdown();
        for (Member member : members) {
            member.leave();
        }
    }
}
