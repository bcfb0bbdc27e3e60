package clients;

import java.util.Set;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.common.message.MessageQueue;

/** A consumer that is a member of a group and reads one topic. */
interface Member {
    void start() throws MQClientException;

    /** The queues that it reads now. */
    Set<MessageQueue> queues() throws MQClientException;

    /** Tells the broker at once how far it has read. */
    void commit() throws MQClientException;

    void leave() throws InterruptedException;

    Arrivals arrivals();

    /** Makes a consumer of a kind, push or litepull. With broadcasting every member reads all queues. */
    static Member of(String kind, Cluster cluster, String group, String topic, boolean broadcasting) throws MQClientException {
        switch (kind) {
            case "push":
                return new PushMember(cluster, group, topic, broadcasting);
            case "litepull":
                return new LitePullMember(cluster, group, topic, broadcasting);
            default:
                throw new IllegalArgumentException("no such kind of consumer: " + kind);
        }
    }
}
