package simulator;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.message.ShareGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ShareGroupHeartbeatResponseData;
import org.apache.kafka.common.protocol.Errors;

/** A member of a share group: it heartbeats, and takes what it is assigned at once. */
final class ShareMember extends Member {
    private int epoch;
    private List<String> sentTopics;
    private int beat;

    ShareMember(Group group, String clientId) {
        super(group, clientId, null, false);
        id = Topics.uuid(random).toString();
    }

    @Override
    boolean classic() {
        return false;
    }

    @Override
    boolean isReadingTold() {
        return false;
    }

    @Override
    int epoch() {
        return epoch;
    }

    @Override
    void start() {
        later(0, this::heartbeat);
    }

    @Override
    void resubscribed() {
        next(0);
    }

    @Override
    void close() {
        if (dead) return;
        note("close", " -1");
        ShareGroupHeartbeatRequestData data =
            new ShareGroupHeartbeatRequestData().setGroupId(group.id).setMemberId(id).setMemberEpoch(-1);
        send(Requests.shareHeartbeat(asked("leave", "-1 close"), data), null);
        dead = true;
    }

    private void next(long ms) {
        int number = ++beat;
        later(ms, () -> {
            if (number == beat) heartbeat();
        });
    }

    private void heartbeat() {
        boolean joins = epoch == 0;
        ShareGroupHeartbeatRequestData data =
            new ShareGroupHeartbeatRequestData().setGroupId(group.id).setMemberId(id).setMemberEpoch(epoch);
        boolean subscribes = joins || !topics.equals(sentTopics);
        if (subscribes) data.setSubscribedTopicNames(new ArrayList<>(topics));
        sentTopics = new ArrayList<>(topics);
        Asked asked = asked(joins ? "join" : "heartbeat", subscribes ? "subscription" : null);
        int number = beat;
        send(Requests.shareHeartbeat(asked, data), (answer, thrown) -> {
            Errors error = thrown != null ? thrown : Errors.forCode(answer.errorCode());
            if (number == beat) answered(answer, error, joins);
        });
    }

    private void answered(ShareGroupHeartbeatResponseData answer, Errors error, boolean joins) {
        if (error == Errors.NONE) {
            epoch = answer.memberEpoch();
            next(answer.heartbeatIntervalMs() + random.nextInt(20));
        } else if (coordinatorGone(error)) {
            if (joins) sentTopics = null;
            next(100 + random.nextInt(900));
        } else if (error == Errors.FENCED_MEMBER_EPOCH || error == Errors.UNKNOWN_MEMBER_ID) {
            epoch = 0;
            next(20 + random.nextInt(200));
        } else {
            fails(error);
        }
    }
}
