import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.Properties;
import org.apache.rocketmq.remoting.netty.NettyRemotingClient;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/**
 * Runs many commands of the admin tool 5.5.0 in one virtual machine, which would take a second to start for each.
 *
 * <p>Standard input has one command a line, its arguments separated by tabs. Each is answered by a line on standard
 * output: "done", or "exited" when the command ended the virtual machine, a space, and in base 64 all that the command
 * printed on both outputs.
 */
public final class AdminShell extends MQAdminStartup {
    private final PrintStream answers;
    /** What the running command has printed; null between two commands. */
    private volatile ByteArrayOutputStream printed;

    private AdminShell(PrintStream answers) {
        this.answers = answers;
    }

    public static void main(String[] args) {
        System.setProperty("java.io.tmpdir", System.getProperty("user.home"));
        AdminShell shell = new AdminShell(System.out);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> shell.answer("exited")));
        Thread hurry = new Thread(new Hurry(Thread.currentThread()), "Hurry");
        hurry.setDaemon(true);
        hurry.start();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        commands.lines().forEach(line -> shell.run(line.isEmpty() ? new String[0] : line.split("\t", -1)));
        // Some commands leave threads behind that would keep the virtual machine alive.
        Runtime.getRuntime().halt(0);
    }

    /** Runs a command as if it were the first of its virtual machine. */
    private void run(String[] arguments) {
        printed = new ByteArrayOutputStream();
        PrintStream both = new PrintStream(printed, true, StandardCharsets.UTF_8);
        System.setOut(both);
        System.setErr(both);
        Properties before = (Properties) System.getProperties().clone();
        // The tool adds its commands anew on each call, and finds the first of a name: one that has run may keep state.
        SUB_COMMANDS.clear();
        try {
            MQAdminStartup.main0(arguments, null);
        } catch (Throwable failure) {
            // What an uncaught exception prints in a virtual machine of its own.
            System.err.print("Exception in thread \"main\" ");
            failure.printStackTrace();
        }
        System.setProperties(before);
        answer("done");
    }

    private synchronized void answer(String end) {
        if (printed == null) {
            return;
        }
        answers.println(end + " " + Base64.getEncoder().encodeToString(printed.toByteArray()));
        answers.flush();
        printed = null;
    }

    /**
     * Saves most commands 3 seconds: a client that shuts down waits for its event thread, which looks whether it should
     * end only between two polls of that length. Interrupted, it looks at once.
     */
    private static final class Hurry implements Runnable {
        private static final long PERIOD_MILLIS = 10;

        private final Thread commands;

        Hurry(Thread commands) {
            this.commands = commands;
        }

        @Override
        public void run() {
            try {
                while (true) {
                    Thread.sleep(PERIOD_MILLIS);
                    if (clientShutsDown()) {
                        interruptEventThreads();
                    }
                }
            } catch (InterruptedException end) {
                Thread.currentThread().interrupt();
            }
        }

        private boolean clientShutsDown() {
            return commands.getState() == Thread.State.TIMED_WAITING && Arrays.stream(commands.getStackTrace()).anyMatch(
                frame -> frame.getMethodName().equals("shutdown") && frame.getClassName().equals(NettyRemotingClient.class.getName()));
        }

        private void interruptEventThreads() {
            Thread[] threads = new Thread[commands.getThreadGroup().activeCount() * 2];
            int count = commands.getThreadGroup().enumerate(threads);
            Arrays.stream(threads, 0, count).filter(thread -> thread.getName().equals("NettyEventExecutor")).forEach(Thread::interrupt);
        }
    }
}
