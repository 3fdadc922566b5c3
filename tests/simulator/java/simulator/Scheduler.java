package simulator;

import java.util.Comparator;
import java.util.PriorityQueue;

/** The true time, which no broker's clock need show, and what is yet to happen in it, on one thread. */
final class Scheduler {
    private record Due(long at, long order, Runnable work) { }

    private final PriorityQueue<Due> queue =
        new PriorityQueue<>(Comparator.comparingLong(Due::at).thenComparingLong(Due::order));
    private long now;
    private long order;

    Scheduler(long start) {
        now = start;
    }

    /** ms since 1970. */
    long now() {
        return now;
    }

    /** Works of one instant run in the order in which they were asked for. */
    void after(long delayMs, Runnable work) {
        queue.add(new Due(now + Math.max(0, delayMs), order++, work));
    }

    void runUntil(long until) {
        while (!queue.isEmpty() && queue.peek().at <= until) {
            Due due = queue.poll();
            now = Math.max(now, due.at);
            due.work.run();
        }
        now = Math.max(now, until);
    }
}
