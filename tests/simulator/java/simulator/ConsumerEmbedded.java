package simulator;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.protocol.types.SchemaException;

/** Consumers, with the assignors of the Java client. */
final class ConsumerEmbedded implements Embedded {
    static final int FORMS = 3;
    private final Topics topics;
    private final Map<String, ConsumerPartitionAssignor> assignors = new LinkedHashMap<>();
    /** Assignments have data of the assignor's own, as those of a custom one may. */
    private final boolean userData;
    /**
     * Of a client of the user's own making, that no other one can read; else null. What it cannot read itself
     * it takes to subscribe to these.
     */
    private List<String> ownTopics;
    private int ownForm;

    ConsumerEmbedded(Topics topics, List<String> names, boolean userData) {
        this.topics = topics;
        this.userData = userData;
        for (String name : names) {
            assignors.put(name, name.equals("range") ? new RangeAssignor() : new CooperativeStickyAssignor());
        }
    }

    /** form: how what it says differs from Kafka's layouts, 0 to FORMS - 1. */
    void speakOwn(List<String> topics, int form) {
        ownTopics = topics;
        ownForm = form;
    }

    @Override
    public String type() {
        return "consumer";
    }

    @Override
    public boolean cooperative() {
        return !assignors.containsKey("range");
    }

    @Override
    public LinkedHashMap<String, byte[]> metadata(ClassicMember member) {
        LinkedHashMap<String, byte[]> metadata = new LinkedHashMap<>();
        assignors.forEach((name, assignor) -> {
            ByteBuffer user = assignor.subscriptionUserData(new TreeSet<>(member.topics));
            Subscription subscription =
                new Subscription(new ArrayList<>(member.topics), user, listed(member.owned),
                member.epoch(), Optional.ofNullable(member.rack()));
            metadata.put(name, said(bytes(ConsumerProtocol.serializeSubscription(subscription))));
        });
        return metadata;
    }

    @Override
    public Map<String, byte[]> assign(JoinGroupResponseData joined) {
        Map<String, Subscription> subscriptions = new TreeMap<>();
        Set<String> subscribed = new TreeSet<>();
        for (var member : joined.members()) {
            Subscription one = read(member.metadata());
            one.setGroupInstanceId(Optional.ofNullable(member.groupInstanceId()));
            subscriptions.put(member.memberId(), one);
            subscribed.addAll(one.topics());
        }
        ConsumerPartitionAssignor assignor = assignors.get(joined.protocolName());
        Map<String, byte[]> assignments = new TreeMap<>();
        assignor.assign(topics.cluster(subscribed), new GroupSubscription(subscriptions)).groupAssignment()
            .forEach((member, one) ->
                assignments.put(member, bytes(ConsumerProtocol.serializeAssignment(sent(one)))));
        return assignments;
    }

    @Override
    public TreeSet<String> assigned(ClassicMember member, String protocol, byte[] assignment) {
        Assignment read = assignment.length == 0
            ? new Assignment(List.of()) : ConsumerProtocol.deserializeAssignment(ByteBuffer.wrap(assignment));
        assignors.get(protocol)
            .onAssignment(read, new ConsumerGroupMetadata(member.group.id, member.epoch(), member.id,
            Optional.ofNullable(member.instance)));
        TreeSet<String> owned = new TreeSet<>();
        for (TopicPartition one : read.partitions()) owned.add(one.topic() + "/" + one.partition());
        return owned;
    }

    /** Of a version below all that there are, without a word, or of a version alone: each a SchemaException. */
    private byte[] said(byte[] subscription) {
        if (ownTopics == null) return subscription;
        return switch (ownForm) {
            case 0 -> new byte[0];
            case 1 -> Arrays.copyOf(subscription, 2);
            default -> {
                subscription[0] = -1;
                yield subscription;
            }
        };
    }

    private Subscription read(byte[] metadata) {
        try {
            return ConsumerProtocol.deserializeSubscription(ByteBuffer.wrap(metadata));
        } catch (SchemaException notRead) {
            if (ownTopics == null) throw notRead;
            return new Subscription(ownTopics);
        }
    }

    private Assignment sent(Assignment one) {
        return userData ? new Assignment(one.partitions(), ByteBuffer.wrap(new byte[] {1, 2})) : one;
    }

    static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    private static List<TopicPartition> listed(Collection<String> partitions) {
        List<TopicPartition> all = new ArrayList<>();
        for (String one : partitions) {
            int slash = one.lastIndexOf('/');
            all.add(new TopicPartition(one.substring(0, slash), Integer.parseInt(one.substring(slash + 1))));
        }
        return all;
    }
}
