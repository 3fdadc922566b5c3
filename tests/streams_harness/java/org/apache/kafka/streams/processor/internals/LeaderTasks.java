package org.apache.kafka.streams.processor.internals;

import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.processor.assignment.ProcessId;

/** The task manager of a leader: of all it knows, an assignor that assigns asks for these alone. */
public final class LeaderTasks extends TaskManager {
    public LeaderTasks(final Time time, final ProcessId processId, final TopologyMetadata topology) {
        super(time, null, processId, "", null, null, null, topology, null, null, null, null);
    }
}
