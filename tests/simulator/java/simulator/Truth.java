package simulator;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;

/** What happened: each operation with the coordinator's memory after it, and what was injected. */
final class Truth {
    /** An answer comes later than the records: an operation is told when it must have come. */
    private static final long ANSWERED_WITHIN_MS = 120_000;
    /** `[GroupCoordinator id=1 topic=__consumer_offsets partition=3] `, which each shard says first. */
    private static final Pattern WHERE = Pattern.compile("^\\[GroupCoordinator [^\\]]*\\] ");
    private final Simulation simulation;
    private final PrintStream operations;
    private final PrintStream timeline;
    private final PrintStream reading;
    private final PrintStream answers;
    private final PrintStream logged;
    /** Group to its members as they were told last. */
    private final Map<String, Map<String, String>> told = new HashMap<>();
    /** Broker and partition to its classic groups, and their phases as they were told last. */
    private final Map<String, Map<String, String>> phases = new HashMap<>();
    long seen;
    long onlyCommits;

    Truth(Simulation simulation) throws IOException {
        this.simulation = simulation;
        Path folder = Files.createDirectories(simulation.root.resolve("truth"));
        operations = packed(folder.resolve("operations.jsonl.gz"));
        timeline = packed(folder.resolve("timeline.jsonl.gz"));
        reading = packed(folder.resolve("reading.jsonl.gz"));
        answers = packed(folder.resolve("answers.jsonl.gz"));
        logged = packed(folder.resolve("logged.jsonl.gz"));
    }

    static PrintStream packed(Path file) throws IOException {
        GZIPOutputStream packed = new GZIPOutputStream(Files.newOutputStream(file), 1 << 16);
        return new PrintStream(new BufferedOutputStream(packed, 1 << 18), false, StandardCharsets.UTF_8);
    }

    /** Records at the end of the log, or of its open batch, from `first` on. */
    void operation(Broker broker, OffsetsLog log, Asked asked, long first, List<CoordinatorRecord> written) {
        Operation operation = new Operation(log.name.partition(), first, first + written.size() - 1, broker,
            simulation.scheduler.now(), asked);
        Set<String> groups = new LinkedHashSet<>();
        boolean onlyCommit = true;
        for (CoordinatorRecord record : written) {
            String group = RecordText.groupOf(record);
            if (group != null) groups.add(group);
            operation.records.add(RecordText.of(record));
            onlyCommit &= RecordText.isCommit(record);
        }
        if (!onlyCommit) {
            var memory = broker.memory.groups(log.name);
            for (String group : groups) {
                operation.states.put(group, StateReader.of(group, memory.get(group), written));
            }
        }
        add(log, operation, onlyCommit);
    }

    /** The end of a transaction, which is the last record of the log. */
    void marker(Broker broker, OffsetsLog log, Asked asked) {
        long now = simulation.scheduler.now();
        add(log, new Operation(log.name.partition(), log.end - 1, log.end - 1, broker, now, asked), true);
    }

    /** Tells the operations whose records are in the log, and that were answered; at the end `all`. */
    void tell(boolean all) {
        for (OffsetsLog log : simulation.logs) {
            while (!log.untold.isEmpty()) {
                Operation next = log.untold.peek();
                boolean inLog = next.lastOffset < log.end;
                boolean answered = next.trueTime <= simulation.scheduler.now() - ANSWERED_WITHIN_MS;
                if (!all && !(inLog && answered)) break;
                log.untold.poll();
                if (inLog) line(next);
                else lost(next);
            }
        }
    }

    /** Something that was injected, or that a client saw; group and member may be null. */
    void note(String what, String detail, String group, String client, String member) {
        Json json = new Json().raw("t", simulation.scheduler.now()).text("what", what).text("detail", detail);
        String known = member == null || member.isEmpty() ? null : member;
        json.given("g", group).given("cl", client).given("m", known);
        OffsetsLog log = group == null ? null : simulation.leaders.logOf(group);
        if (log != null) place(json, log, log.leader);
        timeline.println(json);
    }

    /** What a process reads from now on: all of it, topics by id or by name. */
    void reads(Member member, int process, Collection<String> partitions) {
        Json json = new Json().raw("t", simulation.scheduler.now()).text("g", member.group.id);
        json.raw("pr", process).text("cl", member.clientId);
        if (member.eager()) json.raw("eager", 1);
        reading.println(json.raw("r", Json.array(new ArrayList<>(partitions))));
    }

    /** A request about a group was answered. */
    void answered(Broker broker, Asked asked, RequestContext context, long received, Exchange said,
                  RequestLog.Line line) {
        Json json = new Json().text("g", asked.group).text("op", asked.kind).raw("br", broker.id);
        json.given("m", asked.member).raw("t", simulation.scheduler.now());
        json.raw("rt", received).raw("bt", broker.clock.milliseconds());
        json.text("api", context.header.apiKey().name()).text("cl", context.clientId());
        json.text("co", context.connectionId.split("-", 2)[1]).raw("at", line.position());
        json.text("pn", context.principal.toString());
        var software = context.clientInformation;
        json.text("sn", software.softwareName()).text("sv", software.softwareVersion());
        said.addTo(json.raw("ms", line.totalMs()));
        answers.println(json);
    }

    /** Which phase each classic group of a partition is in, where an event of its leader changed that. */
    void phases(Broker broker, OffsetsLog log) {
        Map<String, String> known = phases.computeIfAbsent(broker.id + " " + log.name, unused -> new HashMap<>());
        Map<String, String> now = broker.memory.classicPhases(log.name);
        now.forEach((group, phase) -> {
            if (phase.equals(known.get(group))) return;
            timeline.println(noted("phase", phase, log, broker).text("g", group));
        });
        for (String group : new TreeSet<>(known.keySet())) {
            if (!now.containsKey(group)) timeline.println(noted("phase", "Gone -1", log, broker).text("g", group));
        }
        known.clear();
        known.putAll(now);
    }

    /** A coordinator's logger is called; at which byte of its broker's log the line will begin. */
    void logged(Broker broker, Asked asked, String message, Object[] arguments, long position) {
        Json json = new Json().raw("t", simulation.scheduler.now()).raw("br", broker.id);
        json.raw("bt", broker.clock.milliseconds()).raw("at", position);
        if (asked != null) {
            json.text("op", asked.kind).given("m", asked.member).given("why", asked.detail);
            json.given("reason", asked.reason);
        }
        List<String> given = Stream.of(arguments).map(String::valueOf).toList();
        json.text("say", WHERE.matcher(message).replaceFirst("")).raw("with", Json.array(given));
        logged.println(json);
    }

    /** A partition has a new leader, or loses the one it had: then with states of its classic groups. */
    void leaderNote(String what, String detail, OffsetsLog log) {
        Json json = noted(what, detail, log, log.leader);
        if (what.equals("resign")) json.raw("st", log.leader.memory.classicStates(log.name));
        timeline.println(json);
    }

    private Json noted(String what, String detail, OffsetsLog log, Broker broker) {
        Json json = new Json().raw("t", simulation.scheduler.now()).text("what", what).text("detail", detail);
        return place(json, log, broker);
    }

    /** A session of a member ran out; armedAt: true time since which its coordinator waited. */
    void ranOut(Broker broker, OffsetsLog log, String timer, long armedAt) {
        if (!timer.contains("key=session-timeout-") && !timer.contains("key=heartbeat-")) return;
        Json json = noted("ran out", timer, log, broker);
        timeline.println(json.raw("armed", armedAt));
    }

    /** A broker has read a partition that it leads; it took so many ms. */
    void loaded(Broker broker, OffsetsLog log, int leaderEpoch, long ms) {
        String detail = log.name.partition() + " " + leaderEpoch;
        timeline.println(noted("loaded", detail, log, broker).raw("ms", ms));
    }

    /** A broker could not read a partition that it leads. */
    void loadFailed(Broker broker, OffsetsLog log, int leaderEpoch, String why) {
        timeline.println(noted("load failed", log.name.partition() + " " + leaderEpoch + " " + why, log, broker));
    }

    void note(String what, String detail) {
        note(what, detail, null, null, null);
    }

    void close(Map<String, String> topicNames) throws IOException {
        tell(true);
        operations.close();
        timeline.close();
        reading.close();
        answers.close();
        logged.close();
        StringBuilder names = new StringBuilder();
        topicNames.forEach((id, name) -> names.append(names.isEmpty() ? "{" : ",\n")
            .append(Json.quote(id)).append(":").append(Json.quote(name)));
        Files.writeString(simulation.root.resolve("truth/topic_names.json"), names + "}\n");
    }

    private static Json place(Json json, OffsetsLog log, Broker broker) {
        return json.raw("p", log.name.partition()).raw("br", broker.id)
            .raw("bt", broker.clock.milliseconds());
    }

    /** It is in no log, though the broker's lines may tell of it. */
    void lost(Operation operation) {
        simulation.operationsLost++;
        Asked asked = operation.asked;
        if (asked.group == null) return;
        note("lost", asked.kind + " " + operation.recordTime, asked.group, null, null);
    }

    private void add(OffsetsLog log, Operation operation, boolean onlyCommit) {
        // What a former leader does is written nowhere.
        if (log.ledBy(simulation.brokers.get(operation.broker - 1))) log.untold.add(operation);
        else lost(operation);
        seen++;
        if (onlyCommit) onlyCommits++;
    }

    private void line(Operation operation) {
        Json json = new Json().raw("t", operation.recordTime).raw("p", operation.partition);
        json.raw("b", operation.firstOffset).raw("e", operation.lastOffset).text("op", operation.asked.kind);
        Asked asked = operation.asked;
        json.text("g", asked.group).text("m", asked.member).given("why", asked.detail);
        if (asked.answer != null) json.raw("ans", asked.answer);
        if (operation.states.isEmpty()) {
            json.raw("n", operation.records.size()).raw("c", Json.array(operation.records));
        } else {
            Json states = new Json();
            operation.states.forEach((group, state) -> states.raw(group,
                state.changesSince(told.computeIfAbsent(group, unused -> new LinkedHashMap<>()))));
            json.raw("recs", Json.array(operation.records)).raw("s", states);
        }
        operations.println(json.raw("tt", operation.trueTime).raw("br", operation.broker));
    }
}
