package clients;

import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** Waits for what other processes and threads bring about. */
final class Eventually {
    private static final long LIMIT_SECONDS = 120;
    private static final long PAUSE_MILLIS = 20;

    private Eventually() {
    }

    /** Returns when the condition holds. What it throws counts as "not yet", and is told when the time is over. */
    static void holds(String what, Callable<Boolean> condition) throws InterruptedException {
        long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
        Exception reason = null;
        while (System.nanoTime() < limit) {
            try {
                if (condition.call()) {
                    return;
                }
                reason = null;
            } catch (InterruptedException interrupted) {
                throw interrupted;
            } catch (Exception notYet) {
                reason = notYet;
            }
            Thread.sleep(PAUSE_MILLIS);
        }
        throw new IllegalStateException("not within " + LIMIT_SECONDS + " s: " + what, reason);
    }
}
