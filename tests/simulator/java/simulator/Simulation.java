package simulator;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;

/** A cluster in simulated time: its brokers, the offsets topic, the topics and the groups. */
final class Simulation {
    static final int PARTITIONS = 50;
    private static final long TOLD_EVERY_MS = 30_000;
    private static final long RUN_OUT_MS = 120_000;
    final Path root;
    final Settings settings;
    final Random random;
    final Scheduler scheduler;
    final Truth truth;
    final Topics topics;
    final Leaders leaders;
    final OffsetsLog[] logs = new OffsetsLog[PARTITIONS];
    final List<Broker> brokers = new ArrayList<>();
    final List<Group> groups = new ArrayList<>();
    /** Topics that several groups subscribe to. */
    final List<String> sharedTopics = new ArrayList<>();
    /** How often what happened that is worth a look, for the summary. */
    private final TreeMap<String, Integer> counts = new TreeMap<>();
    long records;
    long requests;
    long operationsLost;
    private long nextProducer = 1000;
    private int nextProcess;

    Simulation(Path root, Settings settings) throws IOException {
        this.root = Files.createDirectories(root);
        this.settings = settings;
        random = new Random(settings.seed);
        scheduler = new Scheduler(settings.start);
        leaders = new Leaders(this, new Random(random.nextLong()));
        for (int number = 0; number < PARTITIONS; number++) logs[number] = new OffsetsLog(this, number);
        truth = new Truth(this);
        topics = new Topics(this, new Random(random.nextLong()), settings.clocksMs.length);
        for (int id = 1; id <= settings.clocksMs.length; id++) {
            brokers.add(new Broker(this, id, settings.clocksMs[id - 1], new Random(random.nextLong())));
        }
        for (OffsetsLog log : logs) {
            for (Broker broker : brokers) log.replicas.add(replica(log, broker));
        }
        topics.create("__consumer_offsets", PARTITIONS);
        topics.publish();
        leaders.firstElection();
        scheduler.runUntil(settings.start + 1000);
    }

    void run() throws IOException {
        for (int number = 0; number < 6; number++) {
            sharedTopics.add("shared-" + number);
            topics.create("shared-" + number, 1 + random.nextInt(6));
        }
        for (int number = 0; number < settings.groups; number++) {
            groups.add(new Group(this, number, settings.kind(random)));
        }
        topics.publish();
        int beginWithin = (int) Math.min(600_000, settings.hours * 3600_000 / 4);
        for (Group group : groups) scheduler.after(random.nextInt(beginWithin), group.life::begin);
        if (settings.leadersFall()) {
            scheduler.after(random.nextInt(settings.brokerFallsEveryMs()), this::brokerFalls);
        }
        for (long until = settings.start; until < settings.stop; until += TOLD_EVERY_MS) {
            scheduler.runUntil(until);
            truth.tell(false);
        }
        scheduler.runUntil(settings.stop + RUN_OUT_MS);
        close();
    }

    boolean over() {
        return scheduler.now() >= settings.stop;
    }

    long nextProducer() {
        return nextProducer++;
    }

    int nextProcess() {
        return nextProcess++;
    }

    void count(String what) {
        counts.merge(what.length() > 120 ? what.substring(0, 120) : what, 1, Integer::sum);
    }

    String summary() {
        StringBuilder text = new StringBuilder(String.format(
            "operations %d (commits alone %d), records %d, requests %d, failovers %d, operations lost %d, %s",
            truth.seen, truth.onlyCommits, records, requests, leaders.failovers, operationsLost, settings));
        counts.forEach((what, times) -> text.append("\n  ").append(times).append(" x ").append(what));
        return text.toString();
    }

    private Replica replica(OffsetsLog log, Broker broker) {
        long bytes = settings.segmentBytes[broker.id - 1];
        return new Replica(root.resolve("segments"), broker, log.name.toString(), bytes);
    }

    private void brokerFalls() {
        if (over()) return;
        Broker broker = brokers.get(random.nextInt(brokers.size()));
        leaders.brokerFalls(broker, settings.downMs(random));
        scheduler.after(60_000 + random.nextInt(2 * settings.brokerFallsEveryMs()), this::brokerFalls);
    }

    private void close() throws IOException {
        truth.close(topics.nameById);
        for (Broker broker : brokers) broker.close();
        for (OffsetsLog log : logs) log.close();
        topics.write(root.resolve("topics.json"));
        Files.writeString(root.resolve("recording.json"), settings.recording(scheduler.now(), records));
    }
}
