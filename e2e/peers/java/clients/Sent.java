package clients;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageClientIDSetter;

/** The messages that have to arrive, by the unique id that the producer gave them. */
final class Sent {
    private final Map<String, String> bodies = new ConcurrentHashMap<>();

    /** Call it after the send: a message gets its id from it. */
    void add(Message message) {
        bodies.put(idOf(message), bodyOf(message));
    }

    Map<String, String> bodies() {
        return bodies;
    }

    int count() {
        return bodies.size();
    }

    static Message message(String topic, String body) {
        return new Message(topic, body.getBytes(StandardCharsets.UTF_8));
    }

    static String idOf(Message message) {
        return MessageClientIDSetter.getUniqID(message);
    }

    static String bodyOf(Message message) {
        return new String(message.getBody(), StandardCharsets.UTF_8);
    }
}
