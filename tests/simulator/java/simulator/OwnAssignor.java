package simulator;

import org.apache.kafka.coordinator.group.api.assignor.ConsumerGroupPartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.GroupAssignment;
import org.apache.kafka.coordinator.group.api.assignor.GroupSpec;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;

/** An operator's own assignor, a class of `group.consumer.assignors`: range, but while it fails for a group. */
public final class OwnAssignor implements ConsumerGroupPartitionAssignor {
    static final String NAME = "own";
    private final RangeAssignor range = new RangeAssignor();

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public GroupAssignment assign(GroupSpec group, SubscribedTopicDescriber topics) {
        Broker.running().events.assigning();
        return range.assign(group, topics);
    }
}
