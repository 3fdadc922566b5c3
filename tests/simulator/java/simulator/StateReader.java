package simulator;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.Group;
import org.apache.kafka.coordinator.group.classic.ClassicGroup;
import org.apache.kafka.coordinator.group.generated.GroupMetadataKey;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;
import org.apache.kafka.coordinator.group.modern.ModernGroup;
import org.apache.kafka.coordinator.group.modern.ModernGroupMember;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroup;
import org.apache.kafka.coordinator.group.modern.consumer.ConsumerGroupMember;
import org.apache.kafka.coordinator.group.modern.share.ShareGroup;
//#if >= 4.1
import org.apache.kafka.coordinator.group.streams.StreamsGroup;
//#endif

/** A group in the coordinator's memory to the state that the truth tells; the fields are in the README. */
final class StateReader {
    private StateReader() { }

    /** group: null where the coordinator has none of that name; written: by the operation that just ran. */
    static GroupState of(String name, Group group, List<CoordinatorRecord> written) {
        if (group == null) return new GroupState().type(null);
        if (group instanceof ConsumerGroup consumer) return consumer(consumer);
        if (group instanceof ClassicGroup classic) return classic(classic, lastValue(name, written));
        GroupState state = new GroupState().type(group.type().toString());
//#if >= 4.1
        if (group instanceof StreamsGroup streams) return StreamsReader.of(streams);
//#endif
        state.header.put("state", Json.quote(group.stateAsString()));
        state.header.put("n", "" + group.numMembers());
        if (group instanceof ShareGroup share) share(share, state);
        return state;
    }

    private static GroupState consumer(ConsumerGroup group) {
        GroupState state = new GroupState().type("consumer");
        state.header.put("state", Json.quote(group.stateAsString()));
        epochs(group, state);
        state.header.put("nc", "" + group.numClassicProtocolMembers());
        group.members().forEach((id, member) -> state.members.put(id, consumerMember(group, member)));
        return state;
    }

    private static String consumerMember(ConsumerGroup group, ConsumerGroupMember member) {
        Json json = modernMember(member);
        json.given("i", member.instanceId()).text("cl", member.clientId()).text("ho", member.clientHost())
            .raw("rt", member.rebalanceTimeoutMs());
        if (member.useClassicProtocol()) json.raw("classic", 1).raw("said", Said.of(member));
        json.given("rk", member.rackId());
        json.given("sa", member.serverAssignorName().orElse(null));
        String regex = member.subscribedTopicRegex();
        if (regex != null && !regex.isEmpty()) json.text("re", regex);
        json.raw("sub", Json.array(new TreeSet<>(member.subscribedTopicNames())));
        json.raw("a", byId(member.assignedPartitions()))
            .raw("pr", byId(member.partitionsPendingRevocation()));
        return json.raw("ta", byId(group.targetAssignment(member.memberId()).partitions())).toString();
    }

    /** Share groups, whose members give nothing up: they have no partitions pending revocation. */
    private static void share(ShareGroup group, GroupState state) {
        epochs(group, state);
        group.members().forEach((id, member) -> {
            Json json = modernMember(member).text("cl", member.clientId());
            json.raw("sub", Json.array(new TreeSet<>(member.subscribedTopicNames())));
            json.raw("a", byId(member.assignedPartitions()));
            state.members.put(id, json.raw("ta", byId(group.targetAssignment(id).partitions())).toString());
        });
    }

    private static void epochs(ModernGroup<?> group, GroupState state) {
        state.header.put("ge", "" + group.groupEpoch());
        state.header.put("te", "" + group.assignmentEpoch());
    }

    private static Json modernMember(ModernGroupMember member) {
        Json json = new Json().raw("e", member.memberEpoch()).raw("pe", member.previousMemberEpoch());
        return json.text("st", member.state().name());
    }

    /** A classic group is told as its K2 is: its memory runs ahead of the log while it rebalances. */
    private static GroupState classic(ClassicGroup group, GroupMetadataValue value) {
        GroupState state = new GroupState().type("classic");
        state.header.put("state", Json.quote(group.stateAsString()));
        state.header.put("ge", "" + (value == null ? group.generationId() : value.generation()));
        state.header.put("proto", Json.quote(group.protocolName().orElse(null)));
        state.header.put("ptype", Json.quote(group.protocolType().orElse(null)));
        if (value == null) {
            state.header.put("nok2", "1");
            return state;
        }
        state.header.put("lead", Json.quote(value.leader()));
        state.header.put("since", "" + value.currentStateTimestamp());
        for (GroupMetadataValue.MemberMetadata member : value.members()) {
            Json json = new Json().raw("e", value.generation()).text("st", "STABLE");
            json.given("i", member.groupInstanceId()).text("cl", member.clientId())
                .text("ho", member.clientHost());
            json.raw("rt", member.rebalanceTimeout()).raw("classic", 1);
            json.raw("an", byName(value.protocolType(), member.assignment()));
            json.raw("said", Said.of(value.protocolType(), member));
            state.members.put(member.memberId(), json.toString());
        }
        return state;
    }

    private static GroupMetadataValue lastValue(String group, List<CoordinatorRecord> written) {
        GroupMetadataValue last = null;
        for (CoordinatorRecord record : written) {
            boolean own = Versions.key(record) instanceof GroupMetadataKey key && key.group().equals(group);
            if (own && record.value() != null) last = (GroupMetadataValue) record.value().message();
        }
        return last;
    }

    private static String byName(String protocolType, byte[] assignment) {
        Map<String, Set<Integer>> byName = new TreeMap<>();
        if ("consumer".equals(protocolType) && assignment != null && assignment.length > 0) {
            var read = ConsumerProtocol.deserializeAssignment(ByteBuffer.wrap(assignment));
            for (TopicPartition one : read.partitions()) {
                byName.computeIfAbsent(one.topic(), unused -> new TreeSet<>()).add(one.partition());
            }
        }
        return Json.partitions(byName);
    }

    /** Partitions by topic id; their values are sets, or maps of which the keys count. */
    @SuppressWarnings("unchecked")
    private static String byId(Map<Uuid, ?> partitions) {
        Map<String, Set<Integer>> byId = new TreeMap<>();
        partitions.forEach((id, numbers) -> byId.put(id.toString(), numbers instanceof Map<?, ?> map
            ? (Set<Integer>) map.keySet() : (Set<Integer>) numbers));
        return Json.partitions(byId);
    }
}
