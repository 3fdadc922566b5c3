package simulator;

import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/** What a broker takes for the time: the true one, and by how much its clock is wrong. */
final class BrokerClock implements Time {
    private final Scheduler scheduler;
    final long offsetMs;

    BrokerClock(Scheduler scheduler, long offsetMs) {
        this.scheduler = scheduler;
        this.offsetMs = offsetMs;
    }

    @Override
    public long milliseconds() {
        return scheduler.now() + offsetMs;
    }

    @Override
    public long nanoseconds() {
        return milliseconds() * 1_000_000;
    }

    @Override
    public void sleep(long ms) {
        throw new UnsupportedOperationException("the only thread must not sleep");
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> condition, long deadlineMs) {
        throw new UnsupportedOperationException("the only thread must not wait");
    }
}
