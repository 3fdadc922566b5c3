package simulator;

import org.apache.kafka.server.util.timer.Timer;
import org.apache.kafka.server.util.timer.TimerTask;
import org.apache.kafka.server.util.timer.TimerTaskEntry;

/** A broker's timer: delays are true ones, whatever its clock says. */
final class BrokerTimer implements Timer {
    private final Scheduler scheduler;
    private final Broker broker;
    /** True time at which the timer that runs now was armed; null where none runs. */
    private Long armedAt;

    BrokerTimer(Scheduler scheduler, Broker broker) {
        this.scheduler = scheduler;
        this.broker = broker;
    }

    @Override
    public void add(TimerTask task) {
        long now = scheduler.now();
        TimerTaskEntry entry = new TimerTaskEntry(task, now + task.delayMs);
        scheduler.after(task.delayMs, () -> {
            if (entry.cancelled()) return;
            armedAt = now;
            try {
                broker.run(task);
            } finally {
                armedAt = null;
            }
        });
    }

    Long armedAt() {
        return armedAt;
    }

    @Override
    public boolean advanceClock(long timeoutMs) {
        return false;
    }

    @Override
    public int size() {
        return 0;
    }

    @Override
    public void close() { }
}
