package simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData.TopicPartitions;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.protocol.Errors;

/** A member of the consumer protocol as a real client behaves: heartbeats, reconciles what it is assigned. */
final class ConsumerMember extends Member {
    String regex;
    String assignor;
    /** Leaves when its revocation takes too long, as a Java client does; else it waits to be fenced. */
    boolean leavesWhenSlow;
    private int epoch;
    private final TreeSet<String> target = new TreeSet<>();
    private String sentAssignor;
    private String sentRegex;
    private List<String> sentTopics;
    private boolean inFlight;
    private boolean again;
    private boolean mustAcknowledge;
    private boolean reconciling;
    /** Numbers of the reconciliation and the heartbeat that count: what older ones planned is dropped. */
    private int round;
    private int beat;

    ConsumerMember(Group group, String clientId, String instance) {
        super(group, clientId, instance, false);
        id = Topics.uuid(random).toString();
    }

    @Override
    boolean classic() {
        return false;
    }

    @Override
    int epoch() {
        return epoch;
    }

    @Override
    void start() {
        later(0, this::heartbeat);
        committing();
    }

    @Override
    void resubscribed() {
        soon();
    }

    @Override
    void close() {
        close(instance == null ? -1 : -2);
    }

    @Override
    void closeForGood() {
        close(-1);
    }

    private void close(int leaveEpoch) {
        if (dead) return;
        note("close", " " + leaveEpoch);
        commitBefore(owned);
        leave(leaveEpoch, "close");
        die();
    }

    void toggleAssignor() {
        assignor = "range".equals(assignor) ? "uniform" : "range";
    }

    /** Its application polls too late: the client leaves, and joins again under the same id when it polls. */
    void pollTooLate(long ms) {
        note("polls too late", " " + ms);
        leave(instance == null ? -1 : -2, "poll interval exceeded");
        forget();
        beat++;
        later(ms, () -> {
            if (epoch == 0) next(0);
        });
    }

    private void next(long ms) {
        int number = ++beat;
        later(ms, () -> {
            if (number == beat) heartbeat();
        });
    }

    private void soon() {
        if (inFlight) again = true;
        else next(0);
    }

    private void heartbeat() {
        if (inFlight) {
            again = true;
            return;
        }
        inFlight = true;
        boolean joins = epoch == 0;
        ConsumerGroupHeartbeatRequestData data = new ConsumerGroupHeartbeatRequestData().setGroupId(group.id)
            .setMemberId(id).setMemberEpoch(epoch).setInstanceId(instance);
        if (joins) {
            data.setRebalanceTimeoutMs(rebalanceTimeoutMs).setTopicPartitions(List.of()).setRackId(rack());
            mustAcknowledge = false;
        }
        List<String> says = new ArrayList<>();
        subscribe(data, joins, says);
        boolean acknowledges = mustAcknowledge;
        mustAcknowledge = false;
        if (acknowledges) {
            data.setTopicPartitions(listed(owned));
            says.add("owned");
        }
        Asked asked = asked(joins ? "join" : "heartbeat", says.isEmpty() ? null : String.join(" ", says));
        send(Requests.consumerHeartbeat(asked, data),
            (answer, thrown) -> answered(answer, thrown, joins, acknowledges));
    }

    /** Of what a member subscribes to only what changed is sent; all of it when it joins. */
    private void subscribe(ConsumerGroupHeartbeatRequestData data, boolean joins, List<String> says) {
        boolean regexGone = sentRegex != null && regex == null;
        if (joins ? regex == null : !topics.equals(sentTopics) || regexGone) {
            data.setSubscribedTopicNames(regex != null ? List.of() : new ArrayList<>(topics));
            says.add("subscription");
        }
        if (joins ? regex != null : !Objects.equals(regex, sentRegex)) {
            data.setSubscribedTopicRegex(regex == null ? "" : regex);
            if (joins) data.setSubscribedTopicNames(List.of());
            says.add("regex");
        }
        if (joins || !Objects.equals(assignor, sentAssignor)) {
            data.setServerAssignor(assignor);
            if (!joins) says.add("assignor");
        }
        sentTopics = new ArrayList<>(topics);
        sentRegex = regex;
        sentAssignor = assignor;
    }

    private void answered(ConsumerGroupHeartbeatResponseData answer, Errors thrown, boolean joins,
                          boolean acknowledged) {
        inFlight = false;
        Errors error = thrown != null ? thrown : Errors.forCode(answer.errorCode());
        boolean wasAgain = again;
        again = false;
        if (error == Errors.NONE) {
            epoch = answer.memberEpoch();
            if (answer.assignment() != null) assigned(answer.assignment());
            next(wasAgain || again ? 0 : answer.heartbeatIntervalMs() + random.nextInt(20));
            again = false;
            return;
        }
        mustAcknowledge |= acknowledged;
        if (coordinatorGone(error)) {
            if (joins) {
                sentTopics = null;
                sentRegex = null;
            }
            next(100 + random.nextInt(900));
        } else if (error == Errors.FENCED_MEMBER_EPOCH || error == Errors.UNKNOWN_MEMBER_ID) {
            forget();
            next(20 + random.nextInt(200));
        } else {
            fails(error);
        }
    }

    /** Is a member no more, and has nothing; the id stays. */
    private void forget() {
        round++;
        reconciling = false;
        mustAcknowledge = false;
        owned.clear();
        revoking.clear();
        tellReading();
        target.clear();
        epoch = 0;
    }

    private void assigned(ConsumerGroupHeartbeatResponseData.Assignment assignment) {
        target.clear();
        for (var topic : assignment.topicPartitions()) {
            for (int partition : topic.partitions()) target.add(topic.topicId() + "/" + partition);
        }
        if (!reconciling) reconcile();
    }

    /** Gives up what is not in the target any more, which may take a while, and then takes the rest. */
    private void reconcile() {
        TreeSet<String> goal = new TreeSet<>(target);
        TreeSet<String> revoked = new TreeSet<>(owned);
        revoked.removeAll(goal);
        reconciling = true;
        int number = ++round;
        if (revoked.isEmpty()) {
            later(random.nextInt(10), () -> reconciled(number, goal));
            return;
        }
        revoking.addAll(revoked);
        tellReading();
        int takes = group.revokeDelay(this);
        later(Math.max(0, takes - 5), () -> {
            if (number == round) commitBefore(revoked);
        });
        if (leavesWhenSlow && takes > rebalanceTimeoutMs) {
            later(rebalanceTimeoutMs, () -> {
                if (number == round) pollTooLate(takes - rebalanceTimeoutMs);
            });
        }
        later(takes, () -> {
            if (number == round) later(random.nextInt(10), () -> reconciled(number, goal));
        });
    }

    private void reconciled(int number, TreeSet<String> goal) {
        if (number != round) return;
        owned.clear();
        owned.addAll(goal);
        revoking.clear();
        tellReading();
        reconciling = false;
        mustAcknowledge = true;
        soon();
        if (!target.equals(goal)) reconcile();
    }

    private void leave(int leaveEpoch, String why) {
        ConsumerGroupHeartbeatRequestData data = new ConsumerGroupHeartbeatRequestData().setGroupId(group.id)
            .setMemberId(id).setMemberEpoch(leaveEpoch).setInstanceId(instance);
        Request<ConsumerGroupHeartbeatResponseData> request =
            Requests.consumerHeartbeat(asked("leave", leaveEpoch + " " + why), data);
        send(new Request<>(request.asked(), request.body(), request.call(), request.response(),
            given -> "[" + given.errorCode() + "," + given.memberEpoch() + "]"), null);
    }

    private static List<TopicPartitions> listed(Set<String> partitions) {
        Map<String, List<Integer>> byTopic = new TreeMap<>();
        for (String one : partitions) {
            int slash = one.lastIndexOf('/');
            int number = Integer.parseInt(one.substring(slash + 1));
            byTopic.computeIfAbsent(one.substring(0, slash), unused -> new ArrayList<>()).add(number);
        }
        List<TopicPartitions> all = new ArrayList<>();
        byTopic.forEach((topic, numbers) ->
            all.add(new TopicPartitions().setTopicId(Uuid.fromString(topic)).setPartitions(numbers)));
        return all;
    }
}
