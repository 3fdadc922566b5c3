package simulator;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Supplier;
import org.apache.kafka.coordinator.common.runtime.CoordinatorEvent;
import org.apache.kafka.coordinator.common.runtime.CoordinatorEventProcessor;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;

/**
 * A broker's coordinator events, one after the other, each at once.
 *
 * An event carries who asked for it; what it made the coordinator write becomes an operation.
 */
final class EventLoop implements CoordinatorEventProcessor {
    private final Simulation simulation;
    private final Broker broker;
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    /** Records that the event that runs now handed to the serializer. */
    private final List<CoordinatorRecord> written = new ArrayList<>();
    private Asked asking;
    /** The event that runs now, or null. */
    private CoordinatorEvent handled;
    private boolean running;
    private boolean marker;

    EventLoop(Simulation simulation, Broker broker) {
        this.simulation = simulation;
        this.broker = broker;
    }

    @Override
    public void enqueueLast(CoordinatorEvent event) {
        Asked asked = asking;
        Long armedAt = broker.timer.armedAt();
        if (armedAt != null && event.key() != null) {
            OffsetsLog log = simulation.logs[event.key().partition()];
            simulation.truth.ranOut(broker, log, Memory.nameOf(event), armedAt);
        }
        waiting.addLast(() -> handle(event, asked));
        drain();
    }

    @Override
    public void enqueueFirst(CoordinatorEvent event) {
        Asked asked = asking;
        waiting.addFirst(() -> handle(event, asked));
        drain();
    }

    @Override
    public void close() { }

    /** Calls the service for someone: the events that it enqueues are theirs. */
    <T> T asking(Asked asked, Supplier<T> call) {
        Asked before = asking;
        asking = asked;
        try {
            return call.get();
        } finally {
            asking = before;
        }
    }

    /** A line is logged: for whom, and of which event. */
    void logged(String message, Object[] arguments, long position) {
        Asked who = asking == null && handled != null ? Asked.internal(Memory.nameOf(handled)) : asking;
        simulation.truth.logged(broker, who, message, arguments, position);
    }

    /** The operator's own assignor is asked for a target of the group that the event is about. */
    void assigning() {
        String name = asking == null || asking.group == null ? Memory.nameOf(handled) : asking.group;
        simulation.groups.stream().filter(one -> one.troubles != null && name.endsWith(one.id))
            .forEach(one -> one.troubles.assigning());
    }

    void written(CoordinatorRecord record) {
        written.add(record);
    }

    /** The event that runs now wrote the end of a transaction, which no serializer sees. */
    void markerWritten() {
        marker = true;
    }

    private void drain() {
        if (running) return;
        running = true;
        try {
            while (!waiting.isEmpty()) waiting.pollFirst().run();
        } finally {
            running = false;
        }
    }

    private void handle(CoordinatorEvent event, Asked asked) {
        written.clear();
        marker = false;
        OffsetsLog log = event.key() == null ? null : simulation.logs[event.key().partition()];
        long before = log == null ? 0 : end(log);
        handled = event;
        broker.tell(asked, () -> runOrFail(event));
        handled = null;
        if (log != null) became(event, asked, log, end(log) - before);
        if (log != null) simulation.truth.phases(broker, log);
        written.clear();
    }

    private void runOrFail(CoordinatorEvent event) {
        try {
            event.run();
        } catch (Throwable thrown) {
            simulation.count("event " + Memory.nameOf(event).replaceAll("[0-9]+", "N") + " threw " + thrown);
            event.complete(thrown);
        }
    }

    /** What the event wrote becomes an operation, if it is, or will be, in the log. */
    private void became(CoordinatorEvent event, Asked asked, OffsetsLog log, long grownBy) {
        if (marker && asked != null && asked.kind.equals("marker")) {
            simulation.truth.marker(broker, log, asked);
        } else if (!written.isEmpty()) {
            boolean lost = !log.ledBy(broker) || grownBy != written.size() && !marker;
            Asked who = asked != null ? asked : Asked.internal(Memory.nameOf(event));
            long first = end(log) - written.size();
            if (lost) lost(log, who);
            else simulation.truth.operation(broker, log, who, first, List.copyOf(written));
        }
    }

    private void lost(OffsetsLog log, Asked who) {
        simulation.operationsLost++;
        if (log.ledBy(broker)) simulation.count("not written: " + who.kind + " " + who.group);
    }

    /** Where the log will end with the batch that this broker's coordinator holds open. */
    private long end(OffsetsLog log) {
        Long open = broker.memory.endOfOpenBatch(log.name);
        return open != null ? open : log.end;
    }
}
