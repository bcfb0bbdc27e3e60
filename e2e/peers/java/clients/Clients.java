package clients;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.apache.rocketmq.remoting.netty.TlsSystemConfig;
import org.apache.rocketmq.remoting.protocol.RemotingCommand;

/**
 * Producers and consumers that do what standard input says, one task a line. Each is answered by a line "= OK RESULT"
 * or "= FAILED REASON".
 *
 * <p>Arguments are system properties, key=value. They are set before a class of the client library reads them.
 */
public final class Clients {
    private Clients() {
    }

    public static void main(String[] args) throws Exception {
        for (String arg : args) {
            int equals = arg.indexOf('=');
            System.setProperty(arg.substring(0, equals), arg.substring(equals + 1));
        }
        BufferedReader tasks = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = tasks.readLine(); line != null; line = tasks.readLine()) {
            System.out.println("= " + answerTo(Arrays.asList(line.split(" "))));
        }
        // The clients leave threads behind.
        Runtime.getRuntime().halt(0);
    }

    private static String answerTo(List<String> words) {
        try {
            return "OK " + perform(words.get(0), words.subList(1, words.size()));
        } catch (Throwable failure) {
            failure.printStackTrace(System.out);
            return "FAILED " + failure.toString().replaceAll("\\s+", " ");
        }
    }

    private static String perform(String task, List<String> words) throws Exception {
        switch (task) {
            case "headers":
                return "serialize=" + RemotingCommand.getSerializeTypeConfigInThisServer() + " tls=" + TlsSystemConfig.tlsEnable;
            case "zone":
                return zone(words.get(0));
            default:
                try (Cluster cluster = Cluster.of(words.get(0))) {
                    return perform(task, cluster, words.get(1), words.subList(2, words.size()));
                }
        }
    }

    private static String perform(String task, Cluster cluster, String topic, List<String> words) throws Exception {
        switch (task) {
            case "round-trip":
                return new RoundTrip(cluster, topic, Integer.parseInt(words.get(1))).run(words.get(0));
            case "refused":
                return new RoundTrip(cluster, topic, 1).refusal();
            case "send":
                return new Sending(cluster, topic).run(words.get(0));
            case "transactions":
                return new Transactions(cluster, topic).run();
            case "order":
                return new Ordered(cluster, topic, words.get(0)).run();
            case "share":
                return new Group(cluster, topic, words.get(0)).share();
            case "broadcast":
                return new Group(cluster, topic, words.get(0)).broadcast();
            case "create-topic":
                cluster.createTopic(words.get(0), topic, Integer.parseInt(words.get(1)));
                return topic;
            default:
                throw new IllegalArgumentException("no such task");
        }
    }

    /** Moves this process into a zone, or out of any ("-"): the client looks these properties up at every request. */
    private static String zone(String name) {
        if (name.equals("-")) {
            System.clearProperty("rocketmq.zone");
            System.clearProperty("rocketmq.zone.mode");
        } else {
            System.setProperty("rocketmq.zone", name);
            System.setProperty("rocketmq.zone.mode", "true");
        }
        return name;
    }
}
