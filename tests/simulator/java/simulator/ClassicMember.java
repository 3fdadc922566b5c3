package simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocol;
import org.apache.kafka.common.message.JoinGroupRequestData.JoinGroupRequestProtocolCollection;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.LeaveGroupRequestData.MemberIdentity;
import org.apache.kafka.common.message.SyncGroupRequestData;
import org.apache.kafka.common.message.SyncGroupRequestData.SyncGroupRequestAssignment;
import org.apache.kafka.common.message.SyncGroupResponseData;
import org.apache.kafka.common.protocol.Errors;

/** A member of the classic protocol as a real client behaves: joins, assigns as the leader, heartbeats. */
final class ClassicMember extends Member {
    private static final int BEAT_MS = 3000;
    private final Embedded embedded;
    int sessionMs = 45_000;
    private int generation = -1;
    private boolean joining;
    /** Numbers of the rebalance and of the heartbeat that count: what an older one planned is dropped. */
    private int round;
    private int beat;
    /** Why it rejoins, as ConsumerCoordinator of the Java client says it; null: for no such reason. */
    private String why;
    /** Topics as the leader saw them when it assigned; null: it is no leader. */
    private Map<String, Integer> assignedFrom;

    ClassicMember(Group group, String clientId, String instance, Embedded embedded) {
        super(group, clientId, instance, true);
        this.embedded = embedded;
        if (simulation.settings.isLong()) sessionMs = Group.QUIET_SESSION_MS;
    }

    @Override
    boolean classic() {
        return true;
    }

    @Override
    int epoch() {
        return generation;
    }

    @Override
    void start() {
        later(0, this::join);
        committing();
    }

    @Override
    void resubscribed() {
        rejoin("subscription has changed");
    }

    /** Its subscription is one that Kafka cannot read. */
    void speakOwn(int form) {
        if (embedded instanceof ConsumerEmbedded consumer) consumer.speakOwn(group.topics, form);
    }

    @Override
    void close() {
        if (dead) return;
        String why = Sender.POLL_TIMEOUT.equals(sender.goodbye()) ? " poll timeout" : "";
        note("close", why);
        commitBefore(owned);
        if (instance == null && !id.isEmpty()) {
            MemberIdentity self = new MemberIdentity().setMemberId(id).setReason(sender.goodbye());
            send(Requests.leave(asked("leave", "classic" + why), group.id, self), null);
        }
        die();
    }

    @Override
    boolean eager() {
        return !embedded.cooperative();
    }

    private void rejoin() {
        rejoin(null);
    }

    /** Eager members give up all that they own first. */
    private void rejoin(String reason) {
        if (joining) return;
        why = embedded.type().equals("consumer") ? reason : null;
        beat++;
        int number = ++round;
        if (embedded.cooperative() || owned.isEmpty()) {
            join();
            return;
        }
        int takes = group.revokeDelay(this);
        commitBefore(owned);
        joining = true;
        giveUp(owned);
        beatWhileRevoking(number);
        later(takes, () -> {
            if (number != round) return;
            joining = false;
            own(new TreeSet<>());
            join();
        });
    }

    private void beatWhileRevoking(int number) {
        later(BEAT_MS, () -> {
            if (number != round || !joining || generation < 0) return;
            heartbeat(false);
            beatWhileRevoking(number);
        });
    }

    private void join() {
        if (joining) return;
        joining = true;
        beat++;
        int number = ++round;
        JoinGroupRequestProtocolCollection protocols = new JoinGroupRequestProtocolCollection();
        embedded.metadata(this).forEach((name, bytes) ->
            protocols.add(new JoinGroupRequestProtocol().setName(name).setMetadata(bytes)));
        String words = why == null ? "rebalance of simulated " + clientId : why;
        String reason = id.isEmpty() ? "" : words;
        JoinGroupRequestData data = new JoinGroupRequestData().setGroupId(group.id).setMemberId(id)
            .setGroupInstanceId(instance).setProtocolType(embedded.type()).setProtocols(protocols)
            .setSessionTimeoutMs(sessionMs).setRebalanceTimeoutMs(rebalanceTimeoutMs).setReason(reason);
        send(Requests.join(asked("join", "classic"), data), (answer, thrown) -> {
            joining = false;
            if (number == round) joined(answer, thrown != null ? thrown : Errors.forCode(answer.errorCode()));
        });
    }

    private void joined(JoinGroupResponseData answer, Errors error) {
        switch (error) {
            case NONE -> {
                id = answer.memberId();
                generation = answer.generationId();
                why = null;
                sync(answer);
            }
            case MEMBER_ID_REQUIRED -> {
                id = answer.memberId();
                join();
            }
            case UNKNOWN_MEMBER_ID -> joinAnew(50 + random.nextInt(100));
            case ILLEGAL_GENERATION -> joinAgain(50 + random.nextInt(100));
            default -> {
                boolean wait = coordinatorGone(error) || error == Errors.REBALANCE_IN_PROGRESS;
                if (wait) later(100 + random.nextInt(900), this::join);
                else fails(error);
            }
        }
    }

    private void sync(JoinGroupResponseData joined) {
        int number = ++round;
        joining = true;
        assignedFrom = null;
        List<SyncGroupRequestAssignment> assignments = new ArrayList<>();
        boolean leads = joined.leader().equals(joined.memberId());
        if (leads && !joined.skipAssignment() && !joined.members().isEmpty()) {
            try {
                embedded.assign(joined).forEach((member, bytes) ->
                    assignments.add(new SyncGroupRequestAssignment().setMemberId(member)
                        .setAssignment(bytes)));
            } catch (RuntimeException thrown) {
                // As poll() would throw it at the application, which closes.
                simulation.count("assignor threw " + thrown);
                note("assignor threw", "");
                close();
                return;
            }
            assignedFrom = simulation.topics.seen(topics);
        }
        SyncGroupRequestData data = new SyncGroupRequestData().setGroupId(group.id).setMemberId(id)
            .setGroupInstanceId(instance).setGenerationId(generation).setProtocolType(embedded.type())
            .setProtocolName(joined.protocolName()).setAssignments(assignments);
        later(group.syncDelay(), () -> send(Requests.sync(asked("sync", null), data), (answer, thrown) -> {
            joining = false;
            Errors error = thrown != null ? thrown : Errors.forCode(answer.errorCode());
            if (number == round) synced(number, joined.protocolName(), answer, error);
        }));
    }

    private void synced(int number, String protocol, SyncGroupResponseData answer, Errors error) {
        switch (error) {
            case NONE -> assigned(number, embedded.assigned(this, protocol, answer.assignment()));
            case UNKNOWN_MEMBER_ID -> joinAnew(50);
            case ILLEGAL_GENERATION -> joinAgain(50);
            case FENCED_INSTANCE_ID -> fenced();
            case REBALANCE_IN_PROGRESS -> later(20, this::rejoin);
            default -> later(100 + random.nextInt(400), this::join);
        }
    }

    /** Cooperative members give up what is theirs no more and then join again. */
    private void assigned(int number, TreeSet<String> now) {
        TreeSet<String> revoked = new TreeSet<>(owned);
        revoked.removeAll(now);
        if (embedded.cooperative() && !revoked.isEmpty()) {
            int takes = group.revokeDelay(this);
            commitBefore(revoked);
            giveUp(revoked);
            later(takes, () -> {
                if (number != round) return;
                own(now);
                rejoin();
            });
        } else {
            own(now);
        }
        beat();
        watchTopics();
    }

    private void own(TreeSet<String> now) {
        owned.clear();
        owned.addAll(now);
        revoking.clear();
        tellReading();
    }

    /** A callback begins. */
    private void giveUp(TreeSet<String> partitions) {
        revoking.addAll(partitions);
        tellReading();
    }

    /** The leader of a group rebalances it when its topics change. */
    private void watchTopics() {
        if (assignedFrom == null) return;
        int number = round;
        later(5000 + random.nextInt(10_000), () -> {
            if (assignedFrom == null || number != round) return;
            if (assignedFrom.equals(simulation.topics.seen(topics))) watchTopics();
            else rejoin("cached metadata has changed");
        });
    }

    private void beat() {
        int number = ++beat;
        later(group.quiet() ? Group.QUIET_HEARTBEAT_MS : BEAT_MS, () -> {
            if (number == beat) heartbeat(true);
        });
    }

    /** counts: what is answered decides what comes next; else it only keeps the session alive. */
    private void heartbeat(boolean counts) {
        int beatNumber = beat, roundNumber = round;
        HeartbeatRequestData data = new HeartbeatRequestData().setGroupId(group.id).setMemberId(id)
            .setGroupInstanceId(instance).setGenerationId(generation);
        send(Requests.heartbeat(asked("heartbeat", "classic"), data), (answer, thrown) -> {
            Errors error = thrown != null ? thrown : Errors.forCode(answer.errorCode());
            if (counts && beatNumber == beat && roundNumber == round) beaten(error);
        });
    }

    private void beaten(Errors error) {
        switch (error) {
            case NONE -> beat();
            case REBALANCE_IN_PROGRESS -> {
                int takes = group.joinDelay();
                note("joins late", " " + takes);
                later(takes, this::rejoin);
                beatUntilJoining();
            }
            case UNKNOWN_MEMBER_ID -> joinAnew(20 + random.nextInt(100));
            case ILLEGAL_GENERATION -> joinAgain(20 + random.nextInt(100));
            case FENCED_INSTANCE_ID -> fenced();
            default -> {
                if (!coordinatorGone(error)) simulation.count("heartbeat " + error);
                int number = ++beat;
                later(200 + random.nextInt(500), () -> {
                    if (number == beat) heartbeat(true);
                });
            }
        }
    }

    private void beatUntilJoining() {
        int beatNumber = beat, roundNumber = round;
        later(BEAT_MS, () -> {
            if (beatNumber != beat || roundNumber != round || joining) return;
            heartbeat(false);
            beatUntilJoining();
        });
    }

    private void joinAnew(long ms) {
        id = "";
        round++;
        joinAgain(ms);
    }

    private void joinAgain(long ms) {
        generation = -1;
        why = null;
        own(new TreeSet<>());
        later(ms, this::join);
    }

    /** Another process has its instance id. */
    private void fenced() {
        note("fenced instance", "");
        die();
        group.life.failed(this);
    }
}
