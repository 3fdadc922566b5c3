package simulator;

//#if >= 4.1
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData;
import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData.Endpoint;
import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData.KeyValue;
import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData.TaskIds;
import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData.TopicInfo;
import org.apache.kafka.common.message.StreamsGroupHeartbeatResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.coordinator.group.streams.StreamsGroupHeartbeatResult;

/** A thread of a Kafka Streams application on the streams protocol: heartbeats, and reconciles its tasks. */
final class StreamsMember extends Member {
    private static final int SHUTDOWN = 4;
    final Application.Process process;
    boolean leavesWhenSlow;
    private int epoch;
    private int port = 8080;
    private String tag;
    private final int topologyEpoch;
    private final String rack;
    /** subtopology/partition, of active tasks, standbys and warm-ups. */
    private final List<TreeSet<String>> tasks = List.of(new TreeSet<>(), new TreeSet<>(), new TreeSet<>());
    private List<TreeSet<String>> target = sets();
    private String said;
    private boolean inFlight;
    private boolean again;
    private boolean mustAcknowledge;
    private boolean mustShutDown;
    private boolean reconciling;
    private int round;
    private int beat;

    StreamsMember(Group group, Application.Process process, String instance) {
        super(group, group.id + "-" + process.id.substring(0, 8) + "-StreamThread-" + ++process.threads,
            machineOf(group.application, process), instance);
        this.process = process;
        boolean isOld = group.application.oneIn(3, "old " + clientId) && group.alive().size() > 1;
        topologyEpoch = isOld ? 0 : group.application.topologyEpoch;
        rack = group.application.hasRacks ? "rack " + Math.floorMod(clientId.hashCode(), 3) : null;
        id = Topics.uuid(random).toString();
    }

    private static String machineOf(Application application, Application.Process process) {
        boolean isCopy = application.isCopied && application.oneIn(2, "copy " + process.id + process.threads);
        return isCopy ? process.machine + " copy" : process.machine;
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

    /** Its endpoint or a tag of its client is another from now on. */
    @Override
    void resubscribed() {
        if (random.nextBoolean()) port++;
        else tag = "z" + random.nextInt(3);
        soon();
    }

    @Override
    void close() {
        close(leaveEpoch());
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
        dead = true;
    }

    /** A static member leaves for a while: its tasks stay its own until its session ends. */
    private int leaveEpoch() {
        return instance == null ? -1 : -2;
    }

    /** Asks that all threads of the application end. */
    void shutDownApplication() {
        note("shutdown", "");
        mustShutDown = true;
        soon();
    }

    void pollTooLate(long ms) {
        note("polls too late", " " + ms);
        leave(leaveEpoch(), "poll interval exceeded");
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
        StreamsGroupHeartbeatRequestData data = new StreamsGroupHeartbeatRequestData().setGroupId(group.id)
            .setMemberId(id).setMemberEpoch(epoch).setInstanceId(instance).setEndpointInformationEpoch(-1);
        List<String> says = new ArrayList<>();
        if (joins) {
            data.setRebalanceTimeoutMs(rebalanceTimeoutMs).setTopology(topology());
            data.setActiveTasks(List.of()).setStandbyTasks(List.of()).setWarmupTasks(List.of());
            data.setProcessId(process.id).setRackId(rack);
            mustAcknowledge = false;
        }
        String client = process.host + ":" + port + " " + tag;
        if (joins || !client.equals(said)) {
            if (process.host != null) data.setUserEndpoint(new Endpoint().setHost(process.host).setPort(port));
            data.setClientTags(tag == null ? List.of() : List.of(new KeyValue().setKey("zone").setValue(tag)));
            says.add("client");
        }
        said = client;
        boolean acknowledges = mustAcknowledge;
        mustAcknowledge = false;
        if (acknowledges) {
            data.setActiveTasks(listed(tasks.get(0))).setStandbyTasks(listed(tasks.get(1)))
                .setWarmupTasks(listed(tasks.get(2)));
            says.add("owned");
        }
        if (mustShutDown) data.setShutdownApplication(true);
        mustShutDown = false;
        Asked asked = asked(joins ? "join" : "heartbeat", says.isEmpty() ? null : String.join(" ", says));
        send(Requests.streamsHeartbeat(asked, data),
            (answer, thrown) -> answered(answer, thrown, joins, acknowledges));
    }

    private void answered(StreamsGroupHeartbeatResult result, Errors thrown, boolean joins, boolean acknowledged) {
        inFlight = false;
        Errors error = thrown != null ? thrown : Errors.forCode(result.data().errorCode());
        boolean wasAgain = again;
        again = false;
        if (error == Errors.NONE) {
            StreamsGroupHeartbeatResponseData answer = result.data();
            epoch = answer.memberEpoch();
            create(result);
            if (answer.activeTasks() != null) assigned(answer);
            next(wasAgain || again ? 0 : answer.heartbeatIntervalMs() + random.nextInt(20));
            again = false;
            boolean ends = answer.status() != null
                && answer.status().stream().anyMatch(status -> status.statusCode() == SHUTDOWN);
            if (ends) later(random.nextInt(3000), this::close);
            return;
        }
        mustAcknowledge |= acknowledged;
        if (coordinatorGone(error)) {
            said = null;
            next(100 + random.nextInt(900));
        } else if (error == Errors.FENCED_MEMBER_EPOCH || error == Errors.UNKNOWN_MEMBER_ID) {
            forget();
            next(20 + random.nextInt(200));
        } else {
            fails(error);
        }
    }

    private void create(StreamsGroupHeartbeatResult result) {
        Map<String, Integer> topics = new TreeMap<>();
        result.creatableTopics().forEach((name, topic) -> topics.put(name, topic.numPartitions()));
        if (!topics.isEmpty()) group.application.create(topics);
    }

    /** Is a member no more, and has nothing; the id stays. */
    private void forget() {
        round++;
        reconciling = false;
        mustAcknowledge = false;
        owned.clear();
        tasks.forEach(TreeSet::clear);
        target = sets();
        epoch = 0;
    }

    private void assigned(StreamsGroupHeartbeatResponseData answer) {
        target = sets();
        var given = List.of(answer.activeTasks(), answer.standbyTasks(), answer.warmupTasks());
        for (int role = 0; role < given.size(); role++) {
            for (var one : given.get(role)) {
                for (int partition : one.partitions()) target.get(role).add(one.subtopologyId() + "/" + partition);
            }
        }
        if (!reconciling) reconcile();
    }

    /** Gives up what is not in the target any more, which may take a while, and then takes the rest. */
    private void reconcile() {
        List<TreeSet<String>> goal = target;
        TreeSet<String> revoked = new TreeSet<>(tasks.get(0));
        revoked.removeAll(goal.get(0));
        reconciling = true;
        int number = ++round;
        if (revoked.isEmpty()) {
            later(random.nextInt(10), () -> reconciled(number, goal));
            return;
        }
        int takes = group.revokeDelay(this);
        later(Math.max(0, takes - 5), () -> {
            if (number == round) commitBefore(group.application.inputs(revoked));
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

    private void reconciled(int number, List<TreeSet<String>> goal) {
        if (number != round) return;
        for (int role = 0; role < goal.size(); role++) {
            tasks.get(role).clear();
            tasks.get(role).addAll(goal.get(role));
        }
        owned.clear();
        owned.addAll(group.application.inputs(tasks.get(0)));
        reconciling = false;
        mustAcknowledge = true;
        soon();
        if (!target.equals(goal)) reconcile();
    }

    private void leave(int leaveEpoch, String why) {
        StreamsGroupHeartbeatRequestData data = new StreamsGroupHeartbeatRequestData().setGroupId(group.id)
            .setMemberId(id).setMemberEpoch(leaveEpoch).setInstanceId(instance).setEndpointInformationEpoch(-1);
        send(Requests.streamsHeartbeat(asked("leave", leaveEpoch + " " + why), data), null);
    }

    private StreamsGroupHeartbeatRequestData.Topology topology() {
        List<StreamsGroupHeartbeatRequestData.Subtopology> all = new ArrayList<>();
        for (Application.Subtopology one : group.application.subtopologies) {
            var told = new StreamsGroupHeartbeatRequestData.Subtopology().setSubtopologyId(one.id())
                .setSourceTopics(one.sources()).setStateChangelogTopics(infos(one.changelogs()));
            if (one.repartition() != null) told.setRepartitionSourceTopics(infos(List.of(one.repartition())));
            if (one.sink() != null) told.setRepartitionSinkTopics(List.of(one.sink()));
            all.add(told);
        }
        return new StreamsGroupHeartbeatRequestData.Topology().setEpoch(topologyEpoch).setSubtopologies(all);
    }

    private static List<TopicInfo> infos(List<String> topics) {
        return topics.stream().map(name -> new TopicInfo().setName(name)).toList();
    }

    private static List<TreeSet<String>> sets() {
        return List.of(new TreeSet<>(), new TreeSet<>(), new TreeSet<>());
    }

    private static List<TaskIds> listed(Iterable<String> tasks) {
        Map<String, List<Integer>> bySubtopology = new TreeMap<>();
        for (Iterator<String> each = tasks.iterator(); each.hasNext();) {
            String one = each.next();
            int slash = one.lastIndexOf('/');
            int number = Integer.parseInt(one.substring(slash + 1));
            bySubtopology.computeIfAbsent(one.substring(0, slash), unused -> new ArrayList<>()).add(number);
        }
        List<TaskIds> all = new ArrayList<>();
        bySubtopology.forEach((id, numbers) ->
            all.add(new TaskIds().setSubtopologyId(id).setPartitions(numbers)));
        return all;
    }
}
//#endif
