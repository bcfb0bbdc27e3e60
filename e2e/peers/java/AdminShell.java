import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import org.apache.rocketmq.tools.command.MQAdminStartup;

/**
 * Runs many commands of the admin tool in one virtual machine, which would take a second to start for each.
 *
 * <p>Standard input has one command a line, its arguments separated by tabs. Each is answered on standard output by a
 * line "BYTES done" or, when the command ended the virtual machine, "BYTES exited", and then that many bytes: all that
 * the command printed, on both outputs, as UTF-8.
 */
public final class AdminShell extends MQAdminStartup {
    private final PrintStream answers;
    /** What the running command has printed; null between two commands. */
    private volatile ByteArrayOutputStream printed;

    private AdminShell(PrintStream answers) {
        this.answers = answers;
    }

    public static void main(String[] args) {
        AdminShell shell = new AdminShell(System.out);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> shell.answer("exited")));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        commands.lines().forEach(line -> shell.run(line.split("\t", -1)));
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
        ByteArrayOutputStream ended = printed;
        if (ended == null) {
            return;
        }
        printed = null;
        byte[] bytes = ended.toByteArray();
        answers.print(bytes.length + " " + end + "\n");
        answers.write(bytes, 0, bytes.length);
        answers.flush();
    }
}
