package simulator;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestPartition;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestTopic;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData.TxnOffsetCommitRequestPartition;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData.TxnOffsetCommitRequestTopic;
import org.apache.kafka.common.protocol.Errors;

/** A member of a group, as a process: it lives, freezes, dies, and commits offsets of what it owns. */
abstract class Member extends Client {
    static final int CLASSIC_COMMIT = 9;
    final Group group;
    String instance;
    /** Empty until the member has one. */
    String id = "";
    boolean dead;
    int rebalanceTimeoutMs = 300_000;
    /** 0: it never commits. */
    int commitMs;
    List<String> topics = new ArrayList<>();
    /** topic/partition; the topic by id in the consumer protocol, by name in the classic one. */
    final TreeSet<String> owned = new TreeSet<>();
    /** Of these, what a callback is giving up: it is owned still, and not read any more. */
    final TreeSet<String> revoking = new TreeSet<>();
    private final int process;
    private TreeSet<String> reads = new TreeSet<>();
    private boolean frozen;
    private int freezes;
    private long thawsAt;
    private long commitsNothingUntil;
    private long sparedUntil;

    Member(Group group, String clientId, String instance, boolean classic) {
        super(group.simulation, group.id, clientId, group.random, classic, group.software(classic),
            group.machineOf(clientId));
        this.group = group;
        process = group.simulation.nextProcess();
        this.instance = instance;
    }

    /** A thread of a process on a machine, which has others. */
    Member(Group group, String clientId, String machine, String instance) {
        super(group.simulation, group.id, clientId, group.random, false, group.software(false), machine);
        this.group = group;
        process = group.simulation.nextProcess();
        this.instance = instance;
    }

    abstract boolean classic();

    /** client.rack; one in three clients has one. */
    String rack() {
        return Math.floorMod(clientId.hashCode(), 3) == 0 ? "rack-" + clientId.length() % 2 : null;
    }

    abstract void start();

    abstract void close();

    /** A static member that will not come back says so, where its protocol can. */
    void closeForGood() {
        close();
    }

    abstract int epoch();

    /** Tells the group what the member subscribes to from now on. */
    abstract void resubscribed();

    /** On this process's own time: never after its death, and later while it is frozen. */
    void later(long ms, Runnable work) {
        simulation.scheduler.after(ms, () -> {
            if (dead) return;
            if (frozen) later(Math.max(1, thawsAt - simulation.scheduler.now()) + random.nextInt(20), work);
            else work.run();
        });
    }

    @Override
    void deliver(Runnable answer) {
        if (dead) return;
        if (frozen) later(0, answer);
        else answer.run();
    }

    void crash() {
        note("crash", "");
        die();
    }

    /** Stopped, heartbeats and all, and then goes on. */
    void freeze(long ms) {
        note("freeze", " " + ms);
        frozen = true;
        thawsAt = Math.max(thawsAt, simulation.scheduler.now() + ms);
        tellReading();
        simulation.scheduler.after(ms, () -> {
            frozen = simulation.scheduler.now() < thawsAt;
            if (!frozen && movesWhenItThaws(++freezes)) moveTo(clientId + " after freeze " + freezes);
            tellReading();
        });
    }

    void die() {
        dead = true;
        tellReading();
    }

    /** Some wake up elsewhere, each third time; a seed's chances are spent on other things. */
    private boolean movesWhenItThaws(int times) {
        return !group.isKind("share", "streams") && Math.floorMod((clientId + times).hashCode(), 3) == 0;
    }

    /** Whether it gives up all that it owns in each rebalance. */
    boolean eager() {
        return false;
    }

    /** Of share and streams groups nobody asks who reads what. */
    boolean isReadingTold() {
        return !group.isKind("streams");
    }

    /** Writes down what it reads, where that changed; of share and streams groups it is not told. */
    void tellReading() {
        if (!isReadingTold()) return;
        TreeSet<String> now = new TreeSet<>();
        if (!dead && !frozen) {
            now.addAll(owned);
            now.removeAll(revoking);
        }
        if (now.equals(reads)) return;
        reads = now;
        simulation.truth.reads(this, process, now);
    }

    /** It is in a story that takes so long: nothing else is done to it. */
    void spare(long ms) {
        sparedUntil = Math.max(sparedUntil, simulation.scheduler.now() + ms);
    }

    boolean isSpared() {
        return simulation.scheduler.now() < sparedUntil;
    }

    /** Goes on as a member, but gets no work done. */
    void commitNothing(long ms) {
        note("commits nothing", " " + ms);
        spare(ms);
        commitsNothingUntil = simulation.scheduler.now() + ms;
    }

    void note(String what, String more) {
        String detail = group.id + " " + clientId + " " + id + more;
        simulation.truth.note(what, detail, group.id, clientId, id);
    }

    Asked asked(String kind, String detail) {
        return new Asked(kind, group.id, id, detail);
    }

    /** Was turned down for good. */
    void fails(Errors error) {
        simulation.count("refused " + (classic() ? "classic " : "") + error);
        note("refused", " " + error);
        die();
        group.life.failed(this);
    }

    static boolean coordinatorGone(Errors error) {
        return error == Errors.NOT_COORDINATOR || error == Errors.COORDINATOR_LOAD_IN_PROGRESS
            || error == Errors.COORDINATOR_NOT_AVAILABLE || error == Errors.REQUEST_TIMED_OUT;
    }

    /** Commits what it owns again and again, alone or in transactions. */
    void committing() {
        if (commitMs == 0) return;
        int every = group.quiet() ? Group.QUIET_HEARTBEAT_MS : commitMs;
        later(every + random.nextInt(commitMs / 4 + 1), () -> {
            boolean nothing = simulation.scheduler.now() < commitsNothingUntil;
            if (!nothing && group.transactions && random.nextBoolean()) commitInTransaction(owned);
            else if (!nothing) commit(owned);
            committing();
        });
    }

    void commitBefore(Collection<String> partitions) {
        if (commitMs > 0 && simulation.scheduler.now() >= commitsNothingUntil) commit(partitions);
    }

    private void commit(Collection<String> partitions) {
        if (partitions.isEmpty() || id.isEmpty()) return;
        List<OffsetCommitRequestTopic> list = new ArrayList<>();
        byName(partitions).forEach((name, numbers) -> {
            OffsetCommitRequestTopic topic = new OffsetCommitRequestTopic().setName(name);
            for (int number : numbers) {
                topic.partitions().add(new OffsetCommitRequestPartition().setPartitionIndex(number)
                    .setCommittedOffset(position(number)).setCommittedLeaderEpoch(0)
                    .setCommittedMetadata(""));
            }
            boolean known = simulation.settings.commitsById && simulation.topics.exists(name);
            if (known) Versions.nameById(topic, simulation.topics.ids.get(name));
            list.add(topic);
        });
        OffsetCommitRequestData data = new OffsetCommitRequestData().setGroupId(group.id).setMemberId(id)
            .setGroupInstanceId(instance).setGenerationIdOrMemberEpoch(epoch()).setTopics(list);
        boolean byName = classic() || !simulation.settings.commitsById;
        int version = byName ? CLASSIC_COMMIT : Versions.newestCommit();
        send(Requests.commit(asked("commit", null), data, version), null);
    }

    /** The transaction ends after a while, well or not. */
    private void commitInTransaction(Collection<String> partitions) {
        if (partitions.isEmpty() || id.isEmpty() || epoch() < 0) return;
        List<TxnOffsetCommitRequestTopic> list = new ArrayList<>();
        byName(partitions).forEach((name, numbers) -> {
            TxnOffsetCommitRequestTopic topic = new TxnOffsetCommitRequestTopic().setName(name);
            for (int number : numbers) {
                topic.partitions().add(new TxnOffsetCommitRequestPartition().setPartitionIndex(number)
                    .setCommittedOffset(position(number)).setCommittedLeaderEpoch(0)
                    .setCommittedMetadata(""));
            }
            list.add(topic);
        });
        long producer = simulation.nextProducer();
        TxnOffsetCommitRequestData data = new TxnOffsetCommitRequestData().setTransactionalId(clientId)
            .setGroupId(group.id).setProducerId(producer).setProducerEpoch((short) 0).setMemberId(id)
            .setGroupInstanceId(instance).setTopics(list);
        Versions.epochOf(data, epoch());
        boolean commit = random.nextInt(4) > 0;
        send(Requests.commitInTransaction(asked("txn commit", "" + producer), data), null);
        int takes = 20 + random.nextInt(random.nextInt(4) == 0 ? 30_000 : 1500);
        simulation.scheduler.after(takes, () -> group.admin.endTransaction(producer, commit));
    }

    private Map<String, TreeSet<Integer>> byName(Collection<String> partitions) {
        Map<String, TreeSet<Integer>> byName = new TreeMap<>();
        for (String one : partitions) {
            int slash = one.lastIndexOf('/');
            String topic = one.substring(0, slash);
            String name = classic() ? topic : simulation.topics.nameById.get(topic);
            int number = Integer.parseInt(one.substring(slash + 1));
            byName.computeIfAbsent(name, unused -> new TreeSet<>()).add(number);
        }
        return byName;
    }

    private long position(int partition) {
        return (simulation.scheduler.now() - simulation.settings.start) / 50 + partition;
    }
}
