package simulator;

import java.lang.reflect.Field;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.coordinator.common.runtime.CoordinatorEvent;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime;
import org.apache.kafka.coordinator.group.Group;
import org.apache.kafka.coordinator.group.GroupCoordinatorShard;
import org.apache.kafka.coordinator.group.GroupMetadataManager;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;

/** A look into a coordinator's memory, which nothing public shows: its fields by reflection. */
final class Memory {
    private static final String RUNTIME = "org.apache.kafka.coordinator.common.runtime.";
    private static final Field COORDINATORS = field(CoordinatorRuntime.class, "coordinators");
    private static final Field BATCH =
        field(named(RUNTIME + "CoordinatorRuntime$CoordinatorContext"), "currentBatch");
    private static final Field NEXT_OFFSET =
        field(named(RUNTIME + "CoordinatorRuntime$CoordinatorBatch"), "nextOffset");
    private static final Field SNAPSHOTS =
        field(named(RUNTIME + "CoordinatorRuntime$CoordinatorContext"), "coordinator");
    private static final Field SHARD = field(named(RUNTIME + "SnapshottableCoordinator"), "coordinator");
    private static final Field MANAGER = field(GroupCoordinatorShard.class, "groupMetadataManager");
    private static final Field GROUPS = field(GroupMetadataManager.class, "groups");
    private final CoordinatorRuntime<?, ?> runtime;

    Memory(CoordinatorRuntime<?, ?> runtime) {
        this.runtime = runtime;
    }

    /** The groups of a partition; none where it is not loaded. */
    @SuppressWarnings("unchecked")
    Map<String, Group> groups(TopicPartition partition) {
        Object context = context(partition);
        Object snapshots = context == null ? null : get(SNAPSHOTS, context);
        return snapshots == null ? Map.of()
            : (Map<String, Group>) get(GROUPS, get(MANAGER, get(SHARD, snapshots)));
    }

    /** Classic group of a partition -> its state, as JSON. */
    Json classicStates(TopicPartition partition) {
        Json states = new Json();
        new TreeMap<>(groups(partition)).forEach((name, group) -> {
            if (group instanceof ClassicGroup classic) states.text(name, classic.stateAsString());
        });
        return states;
    }

    /** Classic group of a partition -> its state and generation. */
    Map<String, String> classicPhases(TopicPartition partition) {
        Map<String, String> phases = new TreeMap<>();
        groups(partition).forEach((name, group) -> {
            if (!(group instanceof ClassicGroup classic)) return;
            phases.put(name, classic.stateAsString() + " " + classic.generationId());
        });
        return phases;
    }

    /** The offset after the batch that the coordinator still holds open, or null: it holds none. */
    Long endOfOpenBatch(TopicPartition partition) {
        Object context = context(partition);
        Object batch = context == null ? null : get(BATCH, context);
        return batch == null ? null : (Long) get(NEXT_OFFSET, batch);
    }

    /** Kafka's own name of an event: the request's, the timer's or the task's. */
    static String nameOf(CoordinatorEvent event) {
        try {
            return (String) get(field(event.getClass(), "name"), event);
        } catch (IllegalStateException none) {
            return event.getClass().getSimpleName();
        }
    }

    static Field field(Class<?> owner, String name) {
        for (Class<?> one = owner; one != null; one = one.getSuperclass()) {
            try {
                Field found = one.getDeclaredField(name);
                found.setAccessible(true);
                return found;
            } catch (NoSuchFieldException above) {
                continue;
            }
        }
        throw new IllegalStateException(owner + " has no field " + name);
    }

    private Object context(TopicPartition partition) {
        return ((Map<?, ?>) get(COORDINATORS, runtime)).get(partition);
    }

    private static Object get(Field field, Object owner) {
        try {
            return field.get(owner);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static Class<?> named(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException other) {
            throw new IllegalStateException("not a version of Kafka that is known here", other);
        }
    }
}
