package simulator;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.coordinator.common.runtime.CoordinatorLoader;
import org.apache.kafka.coordinator.common.runtime.CoordinatorPlayback;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;

/** Loads a coordinator that was just elected by replaying its broker's replica, which takes a while. */
final class Loader implements CoordinatorLoader<CoordinatorRecord> {
    private static final int BYTES_PER_MS = 20_000;
    private final Simulation simulation;
    private final Broker broker;

    Loader(Simulation simulation, Broker broker) {
        this.simulation = simulation;
        this.broker = broker;
    }

    @Override
    public CompletableFuture<LoadSummary> load(TopicPartition partition,
                                               CoordinatorPlayback<CoordinatorRecord> into) {
        OffsetsLog log = simulation.logs[partition.partition()];
        CompletableFuture<LoadSummary> loaded = new CompletableFuture<>();
        long asked = broker.clock.milliseconds();
        int leaderEpoch = log.leaderEpoch;
        Replica replica = log.replicas.get(broker.id - 1);
        long takes = replica.bytes == 0 ? 0 : 1 + replica.bytes / BYTES_PER_MS;
        simulation.scheduler.after(takes, () -> broker.run(() -> {
            if (log.loadsToFail > 0) {
                log.loadsToFail--;
                fails(log, leaderEpoch, loaded);
            } else if (replay(log, replica, into, asked, loaded)) {
                simulation.truth.loaded(broker, log, leaderEpoch, broker.clock.milliseconds() - asked);
            }
        }));
        return loaded;
    }

    /** Until an operator sees it, and lets the partition be led anew. */
    private void fails(OffsetsLog log, int leaderEpoch, CompletableFuture<LoadSummary> loaded) {
        String why = "Could not load records from " + log.name + " because the log does not exist.";
        simulation.truth.loadFailed(broker, log, leaderEpoch, why);
        loaded.completeExceptionally(new NotLeaderOrFollowerException(why));
        long seenMs = 2000 + 1000L * Math.floorMod(leaderEpoch * 31 + log.name.partition() * 7, 45);
        simulation.scheduler.after(seenMs, () -> {
            if (log.leaderEpoch == leaderEpoch) simulation.leaders.failover(log, 500);
        });
    }

    private boolean replay(OffsetsLog log, Replica replica, CoordinatorPlayback<CoordinatorRecord> into,
                           long asked, CompletableFuture<LoadSummary> loaded) {
        try {
            long records = 0;
            for (Path segment : replica.segments()) records += Batches.replay(segment, into);
            log.loaded();
            loaded.complete(new LoadSummary(asked, broker.clock.milliseconds(), 0, records, replica.bytes));
            return true;
        } catch (Exception failed) {
            simulation.count("load failed: " + failed);
            loaded.completeExceptionally(failed);
            return false;
        }
    }

    @Override
    public void close() { }
}
