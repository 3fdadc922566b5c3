package simulator;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.NotLeaderOrFollowerException;
import org.apache.kafka.coordinator.common.runtime.PartitionWriter;

/** One partition of the offsets topic: who leads it, where it ends, and its replicas. */
final class OffsetsLog {
    final TopicPartition name;
    final List<Replica> replicas = new ArrayList<>();
    /** Operations not yet told as truth: their records may still be in a batch that is never written. */
    final Deque<Operation> untold = new ArrayDeque<>();
    /** How often who is elected next fails to load it. */
    int loadsToFail;
    private final Simulation simulation;
    private final List<PartitionWriter.Listener> listeners = new ArrayList<>();
    private long highWatermark;
    long end;
    int leaderEpoch;
    /** The last broker that was elected; it leads while `led`. */
    Broker leader;
    boolean led;
    /** A former leader was not told yet that it is none any more. */
    boolean unsettled;

    OffsetsLog(Simulation simulation, int number) {
        this.simulation = simulation;
        this.name = new TopicPartition("__consumer_offsets", number);
    }

    boolean ledBy(Broker broker) {
        return led && leader == broker;
    }

    void listen(PartitionWriter.Listener listener, boolean on) {
        if (on) listeners.add(listener);
        else listeners.remove(listener);
    }

    /** Appends as `broker`, who may believe itself the leader wrongly; the offset after the last record. */
    long append(Broker broker, Object memoryRecords) {
        if (!ledBy(broker)) throw new NotLeaderOrFollowerException();
        Batches batches = Batches.stamped(memoryRecords, end, leaderEpoch);
        for (Replica replica : replicas) replica.write(end, batches.bytes.duplicate());
        end += batches.records;
        simulation.records += batches.records;
        if (batches.control) broker.events.markerWritten();
        replicate(end, leaderEpoch);
        return end;
    }

    /** All that was written before is committed: who loads a log reads it to its end. */
    void loaded() {
        highWatermark = end;
    }

    /** What a leader that fell had in its open batch is in no log. */
    void forgetUnwritten() {
        untold.removeIf(operation -> {
            boolean unwritten = operation.lastOffset >= end;
            if (unwritten) simulation.truth.lost(operation);
            return unwritten;
        });
    }

    void close() throws IOException {
        for (Replica replica : replicas) replica.close();
    }

    private void replicate(long offset, int epoch) {
        simulation.scheduler.after(simulation.settings.replicationDelay(), () -> {
            if (!led || leaderEpoch != epoch || offset <= highWatermark) return;
            highWatermark = offset;
            leader.run(() -> {
                List.copyOf(listeners).forEach(one -> one.onHighWatermarkUpdated(name, offset));
            });
        });
    }
}
