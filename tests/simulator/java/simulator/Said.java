package simulator;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.types.SchemaException;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMemberMetadataValue.ClassicProtocol;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;

/** What a member of the classic protocol said when it joined, as its own client reads it; fields in the README. */
final class Said {
    private static final String CONSUMER = "consumer";

    private Said() { }

    /** In a consumer group: the first of its protocols that can be read counts. */
    static String of(ConsumerGroupMember member) {
        Json json = new Json().raw("ss", member.classicProtocolSessionTimeout().orElseThrow());
        List<ClassicProtocol> offered = member.supportedClassicProtocols().orElseThrow();
        json.raw("cp", Json.array(offered.stream().map(ClassicProtocol::name).toList()));
        for (ClassicProtocol one : offered) {
            if (subscription(one.metadata(), json)) break;
        }
        return json.toString();
    }

    /** In a classic group. */
    static String of(String protocolType, GroupMetadataValue.MemberMetadata member) {
        Json json = new Json().raw("ss", member.sessionTimeout());
        if (!CONSUMER.equals(protocolType)) return json.toString();
        subscription(member.subscription(), json);
        byte[] assignment = member.assignment();
        boolean none = assignment == null || assignment.length == 0;
        int userData = none ? 0 : length(ConsumerProtocol.deserializeAssignment(ByteBuffer.wrap(assignment)).userData());
        return json.raw("aud", userData).toString();
    }

    private static boolean subscription(byte[] metadata, Json json) {
        try {
            var read = ConsumerProtocol.deserializeSubscription(ByteBuffer.wrap(metadata));
            json.raw("v", ConsumerProtocol.deserializeVersion(ByteBuffer.wrap(metadata)));
            json.raw("sub", Json.array(new TreeSet<>(read.topics()))).raw("ud", length(read.userData()));
            Map<String, Set<Integer>> owned = new TreeMap<>();
            for (TopicPartition one : read.ownedPartitions()) {
                owned.computeIfAbsent(one.topic(), unused -> new TreeSet<>()).add(one.partition());
            }
            json.raw("own", Json.partitions(owned));
            read.generationId().ifPresent(generation -> json.raw("gen", generation));
            read.rackId().ifPresent(rack -> json.text("rk", rack));
            return true;
        } catch (SchemaException notRead) {
            return false;
        }
    }

    private static int length(ByteBuffer userData) {
        return userData == null ? 0 : userData.remaining();
    }
}
