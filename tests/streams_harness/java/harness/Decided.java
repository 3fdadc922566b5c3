package harness;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.internals.assignment.ClientState;
import org.apache.kafka.streams.processor.internals.assignment.HighAvailabilityTaskAssignor;
import org.apache.kafka.streams.processor.internals.assignment.RackAwareTaskAssignor;

/** Kafka's own assignor, which also keeps what it decided, before tasks that others own are taken out again. */
public final class Decided extends HighAvailabilityTaskAssignor {
    /** Active tasks and replicas of a process. */
    record Tasks(Set<TaskId> active, Set<TaskId> standby) {
    }

    static Map<ProcessId, Tasks> tasks = new TreeMap<>();
    static boolean probes;

    @Override
    public boolean assign(
        final Map<ProcessId, ClientState> clients,
        final Set<TaskId> allTasks,
        final Set<TaskId> statefulTasks,
        final RackAwareTaskAssignor rackAware,
        final AssignmentConfigs configs) {
        probes = super.assign(clients, allTasks, statefulTasks, rackAware, configs);
        tasks = new TreeMap<>();
        clients.forEach((id, state) ->
            tasks.put(id, new Tasks(new TreeSet<>(state.activeTasks()), new TreeSet<>(state.standbyTasks()))));
        return probes;
    }
}
