import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.Assignment;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;

/**
 * How many partitions of one topic Kafka's own sticky assignors move from a member that stays, when
 * members of a balanced group go and others come at once.
 *
 * <p>Prints lines: partitions, members before, of them gone, joined, partitions of those that went,
 * moved by CooperativeStickyAssignor, by UniformAssignor.
 */
public final class LeastMoves {
    private static final Uuid TOPIC = new Uuid(1, 2);

    private final int partitions;
    private final Map<String, Set<Integer>> owned = new TreeMap<>();
    private final Set<String> joined = new HashSet<>();

    private LeastMoves(int partitions, int before, int gone, int coming) {
        this.partitions = partitions;
        for (int member = gone; member < before; member++) {
            Set<Integer> held = new HashSet<>();
            for (int each = member; each < partitions; each += before) held.add(each);
            owned.put("m" + member, held);
        }
        for (int member = 0; member < coming; member++) joined.add("new" + member);
    }

    public static void main(String[] arguments) {
        int most = Integer.parseInt(arguments[0]);
        for (int partitions = 1; partitions <= most; partitions++)
            for (int before = 1; before <= 5; before++)
                for (int gone = 0; gone < before; gone++)
                    for (int coming = 0; coming <= 4; coming++)
                        print(partitions, before, gone, coming);
    }

    private static void print(int partitions, int before, int gone, int coming) {
        LeastMoves group = new LeastMoves(partitions, before, gone, coming);
        int held = group.owned.values().stream().mapToInt(Set::size).sum();
        System.out.println(String.join(" ", List.of(
            "" + partitions, "" + before, "" + gone, "" + coming, "" + (partitions - held),
            "" + group.moved(group.bySticky()), "" + group.moved(group.byUniform()))));
    }

    /** Partitions that a member had which stays, and has no more. */
    private int moved(Map<String, Set<Integer>> after) {
        int count = 0;
        for (Map.Entry<String, Set<Integer>> had : owned.entrySet()) {
            Set<Integer> lost = new HashSet<>(had.getValue());
            lost.removeAll(after.getOrDefault(had.getKey(), Set.of()));
            count += lost.size();
        }
        return count;
    }

    private Map<String, Set<Integer>> bySticky() {
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (Map.Entry<String, Set<Integer>> had : owned.entrySet()) {
            List<TopicPartition> listed = new ArrayList<>();
            for (int each : had.getValue()) listed.add(new TopicPartition("topic", each));
            subscriptions.put(had.getKey(), subscription(listed));
        }
        for (String each : joined) subscriptions.put(each, subscription(List.of()));
        Map<String, Set<Integer>> found = new HashMap<>();
        new CooperativeStickyAssignor().assign(Map.of("topic", partitions), subscriptions)
            .forEach((member, given) -> {
                Set<Integer> numbers = new HashSet<>();
                for (TopicPartition each : given) numbers.add(each.partition());
                found.put(member, numbers);
            });
        return found;
    }

    private static Subscription subscription(List<TopicPartition> listed) {
        return new Subscription(List.of("topic"), null, listed, 1, Optional.empty());
    }

    private Map<String, Set<Integer>> byUniform() {
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Integer, String> owners = new HashMap<>();
        owned.forEach((member, held) -> {
            members.put(member, member(held));
            for (int each : held) owners.put(each, member);
        });
        for (String each : joined) members.put(each, member(Set.of()));
        GroupSpecImpl group = new GroupSpecImpl(
            members, SubscriptionType.HOMOGENEOUS, Map.of(TOPIC, owners));
        Map<String, Set<Integer>> found = new HashMap<>();
        new UniformAssignor().assign(group, new OneTopic()).members().forEach((member, given) ->
            found.put(member, given.partitions().getOrDefault(TOPIC, Set.of())));
        return found;
    }

    private static MemberSubscriptionAndAssignmentImpl member(Set<Integer> held) {
        Map<Uuid, Set<Integer>> assigned = held.isEmpty() ? Map.of() : Map.of(TOPIC, held);
        return new MemberSubscriptionAndAssignmentImpl(
            Optional.empty(), Optional.empty(), Set.of(TOPIC), new Assignment(assigned));
    }

    private final class OneTopic implements SubscribedTopicDescriber {
        @Override
        public int numPartitions(Uuid topicId) {
            return TOPIC.equals(topicId) ? partitions : -1;
        }

        @Override
        public Set<String> racksForPartition(Uuid topicId, int partition) {
            return Set.of();
        }
    }
}
