import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.rocketmq.client.hook.SendMessageContext;
import org.apache.rocketmq.client.hook.SendMessageHook;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.message.Message;

/**
 * Producers, each with a client and a thread of its own, that send synchronously and steadily, and remember which sends went wrong. A client
 * polls for routes once in a period from its start on, so they are started evenly over one period: whenever something happens, the next one
 * to hear of it does so after a share of the period, the last one after all of it, as in a fleet that has grown over time.
 *
 * <p>Arguments: nameservers, topic, number of producers, milliseconds between two sends, then any of "latency-fault" (the client's
 * sendLatencyFaultEnable) and "poll=MILLIS" (its pollNameServerInterval). All else is as the client has it.
 *
 * <p>It says "steady" when each producer has sent, and answers the command "since EPOCH_MILLIS BROKER" with "since bad=B slow=S last=L
 * median=M of=N", of sends that have tried the broker with that address: those that failed after that time, good ones that took SLOW_MILLIS or
 * more, and when the last producer (and the median one) ended the first good and quick send after its last bad or slow one, in milliseconds
 * after that time; -1 if a producer had none yet. A send that had nothing to do with the broker is slow for reasons of its own.
 */
public final class Steady {
    private static final int SLOW_MILLIS = 1000;

    /** One send that failed or was slow; recovered is when the next good and quick one ended, 0 until then. */
    private static final class Trouble {
        final long began;
        final boolean failed;
        final Set<String> tried;
        long recovered;

        Trouble(long began, boolean failed, Set<String> tried) {
            this.began = began;
            this.failed = failed;
            this.tried = tried;
        }
    }

    private final DefaultMQProducer producer;
    private final String topic;
    private final List<Trouble> troubles = new ArrayList<>();
    private Set<String> tried; // brokers, by the send that is under way; its thread only
    private boolean hasSent;

    private Steady(DefaultMQProducer producer, String topic) {
        this.producer = producer;
        this.topic = topic;
        producer.getDefaultMQProducerImpl().registerSendMessageHook(new SendMessageHook() {
            @Override
            public String hookName() {
                return "tried";
            }

            @Override
            public void sendMessageBefore(SendMessageContext attempt) {
                tried.add(attempt.getBrokerAddr());
            }

            @Override
            public void sendMessageAfter(SendMessageContext attempt) {}
        });
    }

    /** The clients leave threads behind, also after an exception: every way out is explicit. */
    public static void main(String[] args) {
        try {
            run(args);
            System.exit(0);
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.out.println("ended by " + failure);
            System.exit(1);
        }
    }

    private static void run(String[] args) throws Exception {
        List<Steady> all = new ArrayList<>();
        int producers = Integer.parseInt(args[2]);
        int period = Integer.parseInt(args[3]);
        long begun = System.currentTimeMillis();
        for (int i = 0; i < producers; i++) {
            DefaultMQProducer producer = new DefaultMQProducer("steady");
            producer.setNamesrvAddr(args[0]);
            producer.setInstanceName("steady-" + i);
            for (int option = 4; option < args.length; option++) {
                set(producer, args[option]);
            }
            long turn = begun + (long) i * producer.getPollNameServerInterval() / producers;
            Thread.sleep(Math.max(0, turn - System.currentTimeMillis()));
            Steady steady = new Steady(producer, args[1]);
            all.add(steady);
            producer.start();
            Thread thread = new Thread(() -> steady.send(period), "steady-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        for (Steady steady : all) {
            steady.awaitFirst();
        }
        System.out.println("steady");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String[] words = line.split(" ");
            System.out.println(since(all, Long.parseLong(words[1]), words[2]));
        }
    }

    private static void set(DefaultMQProducer producer, String option) {
        if (option.equals("latency-fault")) {
            producer.setSendLatencyFaultEnable(true);
        } else if (option.startsWith("poll=")) {
            producer.setPollNameServerInterval(Integer.parseInt(option.substring("poll=".length())));
        } else {
            throw new IllegalArgumentException(option);
        }
    }

    private void send(int period) {
        for (long next = System.currentTimeMillis(); ; next = Math.max(next + period, System.currentTimeMillis())) {
            try {
                Thread.sleep(Math.max(0, next - System.currentTimeMillis()));
            } catch (InterruptedException interrupted) {
                return;
            }
            long began = System.currentTimeMillis();
            tried = new HashSet<>();
            boolean good;
            try {
                good = producer.send(new Message(topic, new byte[64])).getSendStatus() == SendStatus.SEND_OK;
            } catch (Exception failed) {
                good = false;
            }
            sent(began, System.currentTimeMillis(), good);
        }
    }

    private synchronized void sent(long began, long ended, boolean good) {
        if (!good || ended - began >= SLOW_MILLIS) {
            troubles.add(new Trouble(began, !good, tried));
        } else {
            for (int i = troubles.size() - 1; i >= 0 && troubles.get(i).recovered == 0; i--) {
                troubles.get(i).recovered = ended;
            }
        }
        if (good) {
            hasSent = true;
            notifyAll();
        }
    }

    private synchronized void awaitFirst() throws InterruptedException {
        while (!hasSent) {
            wait();
        }
    }

    private static String since(List<Steady> all, long time, String broker) {
        int bad = 0;
        int slow = 0;
        boolean unfinished = false;
        List<Long> recoveries = new ArrayList<>();
        for (Steady steady : all) {
            long recovered = 0;
            synchronized (steady) {
                for (Trouble t : steady.troubles) {
                    if (t.began + SLOW_MILLIS < time || !t.tried.contains(broker)) {
                        continue;
                    }
                    bad += t.failed ? 1 : 0;
                    slow += t.failed ? 0 : 1;
                    unfinished |= t.recovered == 0;
                    recovered = t.recovered - time;
                }
            }
            recoveries.add(recovered);
        }
        recoveries.sort(null);
        long last = unfinished ? -1 : recoveries.get(recoveries.size() - 1);
        return "since bad=" + bad + " slow=" + slow + " last=" + last + " median=" + recoveries.get(recoveries.size() / 2) + " of=" + all.size();
    }
}
