package simulator;

import java.util.List;
import java.util.Random;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.TimeUnit;

/** A broker's background threads: what they are given is done a little later. */
final class Background extends AbstractExecutorService {
    private static final int MOST_MS = 20;
    private final Scheduler scheduler;
    private final Broker broker;
    private final Random random;

    Background(Scheduler scheduler, Broker broker, Random random) {
        this.scheduler = scheduler;
        this.broker = broker;
        this.random = random;
    }

    @Override
    public void execute(Runnable work) {
        scheduler.after(1 + random.nextInt(MOST_MS), () -> broker.run(work));
    }

    @Override
    public void shutdown() { }

    @Override
    public List<Runnable> shutdownNow() {
        return List.of();
    }

    @Override
    public boolean isShutdown() {
        return false;
    }

    @Override
    public boolean isTerminated() {
        return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
        return true;
    }
}
