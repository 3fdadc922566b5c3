package simulator;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
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
            if (replay(log, replica, into, asked, loaded)) {
                simulation.truth.loaded(broker, log, leaderEpoch, broker.clock.milliseconds() - asked);
            }
        }));
        return loaded;
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
