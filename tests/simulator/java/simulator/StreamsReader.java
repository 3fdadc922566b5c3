package simulator;

//#if >= 4.1
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.coordinator.group.streams.StreamsGroup;
import org.apache.kafka.coordinator.group.streams.StreamsGroupMember;
import org.apache.kafka.coordinator.group.streams.StreamsTopology;
import org.apache.kafka.coordinator.group.streams.TasksTuple;

/** A streams group in the coordinator's memory to the state that the truth tells. */
final class StreamsReader {
    private StreamsReader() { }

    static GroupState of(StreamsGroup group) {
        GroupState state = new GroupState().type("streams");
        state.header.put("state", Json.quote(group.stateAsString()));
        state.header.put("ge", "" + group.groupEpoch());
        state.header.put("te", "" + group.assignmentEpoch());
        state.header.put("mh", "" + group.metadataHash());
//#if >= 4.2
        state.header.put("vt", "" + group.validatedTopologyEpoch());
        Json configs = new Json();
        new TreeMap<>(group.lastAssignmentConfigs()).forEach(configs::text);
        state.header.put("ac", configs.toString());
//#endif
        group.topology().ifPresent(topology -> topology(topology, state));
        group.members().forEach((id, member) -> state.members.put(id, member(group, member)));
        return state;
    }

    private static void topology(StreamsTopology topology, GroupState state) {
        Json all = new Json();
        new TreeMap<>(topology.subtopologies()).forEach((id, one) -> {
            Set<String> inputs = new TreeSet<>(one.sourceTopics());
            one.repartitionSourceTopics().forEach(topic -> inputs.add(topic.name()));
            List<String> changelogs = new ArrayList<>();
            one.stateChangelogTopics().forEach(topic -> changelogs.add(topic.name()));
            Json told = new Json().raw("in", Json.array(inputs));
            all.raw(id, told.raw("log", Json.array(new TreeSet<>(changelogs))));
        });
        state.header.put("tope", "" + topology.topologyEpoch());
        state.header.put("topo", all.toString());
    }

    private static String member(StreamsGroup group, StreamsGroupMember member) {
        Json json = new Json().raw("e", member.memberEpoch()).raw("pe", member.previousMemberEpoch())
            .text("st", member.state().name()).given("i", member.instanceId().orElse(null))
            .text("cl", member.clientId()).text("ho", member.clientHost())
            .raw("rt", member.rebalanceTimeoutMs()).text("pid", member.processId())
            .raw("tope", member.topologyEpoch()).given("rk", member.rackId().orElse(null));
        member.userEndpoint().ifPresent(one -> json.text("ep", one.host() + ":" + one.port()));
        Json tags = new Json();
        new TreeMap<>(member.clientTags()).forEach(tags::text);
        json.raw("tags", tags);
//#if >= 4.2
        var has = member.assignedTasks();
        var pending = member.tasksPendingRevocation();
        json.raw("aa", keys(has.activeTasksWithEpochs())).raw("as", values(has.standbyTasks()))
            .raw("aw", values(has.warmupTasks()));
        json.raw("pa", keys(pending.activeTasksWithEpochs())).raw("ps", values(pending.standbyTasks()))
            .raw("pw", values(pending.warmupTasks()));
//#else
        tuple(json, "a", member.assignedTasks());
        tuple(json, "p", member.tasksPendingRevocation());
//#endif
//#if >= 4.4
        tuple(json, "t", group.targetAssignment(member.memberId(), member.instanceId()));
//#else
        tuple(json, "t", group.targetAssignment(member.memberId()));
//#endif
        return json.toString();
    }

    private static void tuple(Json json, String name, TasksTuple tasks) {
        json.raw(name + "a", values(tasks.activeTasks())).raw(name + "s", values(tasks.standbyTasks()))
            .raw(name + "w", values(tasks.warmupTasks()));
    }

    private static String keys(Map<String, Map<Integer, Integer>> tasks) {
        Map<String, Set<Integer>> found = new TreeMap<>();
        tasks.forEach((id, numbers) -> found.put(id, new TreeSet<>(numbers.keySet())));
        return Json.partitions(found);
    }

    private static String values(Map<String, Set<Integer>> tasks) {
        Map<String, Set<Integer>> found = new TreeMap<>();
        tasks.forEach((id, numbers) -> found.put(id, new TreeSet<>(numbers)));
        return Json.partitions(found);
    }
}
//#endif
