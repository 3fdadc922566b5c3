package simulator;

import java.util.List;
import org.apache.kafka.common.message.LeaveGroupRequestData.MemberIdentity;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestPartition;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestTopic;
import org.apache.kafka.common.message.OffsetDeleteRequestData;
import org.apache.kafka.common.message.OffsetDeleteRequestData.OffsetDeleteRequestPartition;
import org.apache.kafka.common.message.OffsetDeleteRequestData.OffsetDeleteRequestTopic;
import org.apache.kafka.common.message.OffsetDeleteRequestData.OffsetDeleteRequestTopicCollection;

/** An administrator at one group, and the coordinator that ends its transactions. */
final class Admin extends Client {
    private static final int TRIES = 30;
    private final Group group;

    Admin(Group group) {
        super(group.simulation, group.id, "admin", group.random, "4.3.1");
        this.group = group;
    }

    void anything() {
        if (random.nextInt(4) == 0 || group.isKind("share")) deleteGroup();
        else anythingToLiveGroup();
    }

    /** Share groups have no offsets here: one that is committed would make a simple group of the name. */
    void anythingToLiveGroup() {
        if (group.isKind("share")) return;
        switch (random.nextInt(3)) {
            case 0 -> deleteOffsets();
            case 1 -> commit();
            default -> removeMember();
        }
    }

    void endTransaction(long producer, boolean commit) {
        endTransaction(producer, commit, TRIES);
    }

    void deleteGroup() {
        send(Requests.deleteGroup(new Asked("delete group", group.id, null, null), group.id), null);
    }

    private void deleteOffsets() {
        String topic = group.anyTopic();
        OffsetDeleteRequestTopicCollection topics = new OffsetDeleteRequestTopicCollection();
        topics.add(new OffsetDeleteRequestTopic().setName(topic)
            .setPartitions(List.of(new OffsetDeleteRequestPartition().setPartitionIndex(0))));
        OffsetDeleteRequestData data = new OffsetDeleteRequestData().setGroupId(group.id).setTopics(topics);
        send(Requests.deleteOffsets(new Asked("delete offsets", group.id, null, topic), data), null);
    }

    /** Offsets set by hand. */
    void commit() {
        String name = group.anyTopic();
        OffsetCommitRequestTopic topic = new OffsetCommitRequestTopic().setName(name);
        boolean known = Versions.commitsById(false) && simulation.topics.exists(name);
        if (known) Versions.nameById(topic, simulation.topics.ids.get(name));
        topic.partitions().add(new OffsetCommitRequestPartition().setPartitionIndex(0)
            .setCommittedOffset(random.nextInt(100)).setCommittedMetadata(""));
        OffsetCommitRequestData data = new OffsetCommitRequestData().setGroupId(group.id).setMemberId("")
            .setGenerationIdOrMemberEpoch(-1).setTopics(List.of(topic));
        send(Requests.commit(new Asked("commit", group.id, null, "by hand"), data, Member.CLASSIC_COMMIT),
            null);
    }

    /** Static members by their instance, others by their id. */
    private void removeMember() {
        Member member = group.pick(one -> one.instance != null);
        if (member == null) member = group.pick(one -> !one.id.isEmpty());
        if (member == null) return;
        member.note("admin removal", "");
        MemberIdentity identity = new MemberIdentity().setGroupInstanceId(member.instance)
            .setReason("member was removed by an admin")
            .setMemberId(member.instance == null ? member.id : "");
        send(Requests.leave(new Asked("leave", group.id, member.id, "admin"), group.id, identity), null);
    }

    /** The marker is tried again while the partition has no leader. */
    private void endTransaction(long producer, boolean commit, int tries) {
        Broker broker = simulation.leaders.coordinatorOf(group.id);
        OffsetsLog log = simulation.leaders.logOf(group.id);
        Asked asked = new Asked("marker", null, null, (commit ? "COMMIT " : "ABORT ") + producer);
        broker.ask(asked, () -> Versions.endTransaction(broker, log.name, producer, commit))
            .whenComplete((done, thrown) -> {
            boolean again = thrown != null && tries > 0;
            if (again) simulation.scheduler.after(500, () -> endTransaction(producer, commit, tries - 1));
        });
    }
}
