package clients;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.rocketmq.common.message.MessageExt;

/** What has arrived at a consumer, and how often. Any thread may call it. */
final class Arrivals {
    private final Map<String, String> bodies = new HashMap<>();
    private final Map<String, Integer> times = new HashMap<>();
    /** When a message arrived first, in ms since 1970. */
    private final Map<String, Long> firstAt = new HashMap<>();

    synchronized void take(List<MessageExt> messages) {
        long now = System.currentTimeMillis();
        for (MessageExt message : messages) {
            String id = Sent.idOf(message);
            bodies.put(id, Sent.bodyOf(message));
            times.merge(id, 1, Integer::sum);
            firstAt.putIfAbsent(id, now);
        }
    }

    /** The number of messages; one that has come twice is one. */
    synchronized int count() {
        return times.size();
    }

    synchronized int timesOf(String id) {
        return times.getOrDefault(id, 0);
    }

    synchronized long firstAt(String id) {
        return firstAt.get(id);
    }

    /** All that has arrived at several consumers. */
    static Arrivals together(List<Arrivals> parts) {
        Arrivals all = new Arrivals();
        for (Arrivals part : parts) {
            synchronized (part) {
                all.bodies.putAll(part.bodies);
                part.times.forEach((id, times) -> all.times.merge(id, times, Integer::sum));
                part.firstAt.forEach((id, at) -> all.firstAt.merge(id, at, Math::min));
            }
        }
        return all;
    }

    /** Fails unless just what was sent has arrived, each message unchanged. */
    synchronized void mustBe(Sent sent) {
        List<String> faults = new ArrayList<>();
        Set<String> ids = new TreeSet<>(bodies.keySet());
        ids.addAll(sent.bodies().keySet());
        for (String id : ids) {
            String want = sent.bodies().get(id);
            String got = bodies.get(id);
            if (want == null || !want.equals(got)) {
                faults.add(id + " sent as " + want + ", arrived as " + got);
            }
        }
        mustBeNone(faults);
    }

    /** Fails unless all that was sent has arrived once, and nothing else. */
    synchronized void mustBeOnceEach(Sent sent) {
        mustBe(sent);
        List<String> faults = new ArrayList<>();
        times.forEach((id, times) -> {
            if (times != 1) {
                faults.add(id + " (" + bodies.get(id) + ") arrived " + times + " times");
            }
        });
        mustBeNone(faults);
    }

    private static void mustBeNone(List<String> faults) {
        if (!faults.isEmpty()) {
            throw new IllegalStateException(faults.size() + " faults: " + faults.subList(0, Math.min(5, faults.size())));
        }
    }
}
