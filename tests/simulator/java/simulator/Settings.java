package simulator;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.coordinator.group.assignor.RangeAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;

/** What the caller asked for, and what a seed chooses: brokers, their clocks and config, how they write. */
final class Settings {
    private static final String[] MIXED =
        {"consumer", "consumer", "classic", "migration", "migration", "static", "connect", "share"};
    private static final String[] TROUBLED = {"consumer", "classic", "classic", "migration", "migration", "connect"};
    private static final double LONG_HOURS = 6;
    final long seed;
    final int groups;
    final double hours;
    final String profile;
    final String version;
    final long start;
    final long stop;
    /** By how much each broker's clock is ahead. */
    final long[] clocksMs;
    /** Of each broker, since replicas need not roll at the same offsets. */
    final long[] segmentBytes;
    /** -1: Kafka's adaptive one. */
    final int lingerMs;
    final boolean commitsById;
    /** Kept short, so that silent members are gone soon. */
    final boolean shortSessions;
    final Map<String, Object> brokerConfig = new TreeMap<>();
    private final int replicationMs;
    private final Random delays;

    /** segmentMb: 0 lets the seed choose. */
    Settings(long seed, int groups, double hours, String profile, String version, double segmentMb) {
        this.seed = seed;
        this.groups = groups;
        this.hours = hours;
        this.profile = profile;
        this.version = version;
        start = 1795300000000L + Math.floorMod(seed, 1000) * 100_000_000L;
        stop = start + (long) (hours * 3600_000);
        Random random = new Random(seed * 7919 + 13);
        delays = new Random(random.nextLong());
        lingerMs = linger(random);
        replicationMs = random.nextInt(3) == 0 ? 0 : 1 + random.nextInt(29);
        commitsById = Versions.commitsById(random.nextBoolean());
        clocksMs = clocks(random);
        segmentBytes = new long[clocksMs.length];
        Arrays.setAll(segmentBytes, unused -> segmentMb > 0 ? (long) (segmentMb * 1e6) : segmentSize(random));
        shortSessions = !isLong() && random.nextInt(3) == 0;
        configure(random);
    }

    /** So long that members must heartbeat rarely while nothing happens. */
    boolean isLong() {
        return hours > LONG_HOURS;
    }

    boolean leadersFall() {
        return List.of("failover", "all", "share", "troubled").contains(profile) || isOfStreams();
    }

    /** Applications of Kafka Streams alone. */
    boolean isOfStreams() {
        return List.of("streams", "streams-static").contains(profile);
    }

    /** Threads of Kafka Streams have instance ids, most of them. */
    boolean hasStaticThreads() {
        return profile.equals("streams-static");
    }

    /** ms without a leader: mostly few, sometimes a minute. */
    int downMs(Random random) {
        int most = switch (random.nextInt(8)) {
            case 0 -> 60_000;
            case 1, 2 -> 3000;
            default -> 300;
        };
        return 20 + random.nextInt(most);
    }

    /** On average; a broker's fall takes many partitions with it. */
    int brokerFallsEveryMs() {
        return profile.equals("failover") ? 600_000 : 2_000_000;
    }

    /** What a group is made of. */
    String kind(Random random) {
        return switch (profile) {
            case "consumer", "migration", "static", "streams", "share" -> profile;
            case "streams-static" -> "streams";
            case "classic" -> random.nextInt(3) == 0 ? "connect" : "classic";
            case "troubled" -> TROUBLED[random.nextInt(TROUBLED.length)];
            default -> MIXED[random.nextInt(MIXED.length)];
        };
    }

    int replicationDelay() {
        return replicationMs == 0 ? 0 : delays.nextInt(replicationMs + 1);
    }

    /** recording.json, as real recordings have it, and what was chosen. */
    String recording(long endsAt, long records) {
        Json clocks = new Json();
        for (int id = 1; id <= clocksMs.length; id++) clocks.raw("" + id, clocksMs[id - 1]);
        Json simulated =
            new Json().raw("seed", seed).raw("groups", groups).raw("hours", hours).text("profile", profile)
            .raw("linger", lingerMs).raw("replication_ms", replicationMs).raw("ends_at", endsAt)
            .raw("records", records)
            .raw("clocks_ms", clocks).raw("segment_bytes", Arrays.toString(segmentBytes));
        Json config = new Json();
        brokerConfig.forEach((name, value) -> config.text(name, "" + value));
        List<String> fields = new ArrayList<>();
        fields.add("\"kafka\": " + Json.quote(version));
        fields.add("\"simulated\": " + simulated);
        fields.add("\"brokers\": " + clocksMs.length);
        fields.add("\"broker_config\": " + config);
        fields.add("\"failures\": []");
        return "{\n " + String.join(",\n ", fields) + "\n}\n";
    }

    @Override
    public String toString() {
        return "linger " + lingerMs + ", clocks " + Arrays.toString(clocksMs);
    }

    private static int linger(Random random) {
        int[] fixed = {5, 5, 0, 50, 200};
        int chosen = fixed[random.nextInt(fixed.length)];
        return random.nextInt(7) < 2 && Versions.adaptiveLinger() ? -1 : chosen;
    }

    /** Mostly right or some ms wrong, sometimes seconds; one of them always so where leaders fall often. */
    private long[] clocks(Random random) {
        boolean often = profile.equals("failover");
        long[] clocks = new long[often ? 2 + random.nextInt(2) : 1 + random.nextInt(3)];
        Arrays.setAll(clocks, unused -> switch (random.nextInt(5)) {
            case 0, 1 -> 0;
            case 2, 3 -> random.nextInt(101) - 50;
            default -> secondsWrong(random);
        });
        if (often) clocks[random.nextInt(clocks.length)] = secondsWrong(random);
        return clocks;
    }

    private static long secondsWrong(Random random) {
        return random.nextInt(10_001) - 5000;
    }

    /** 0.1 to 20 MB, often small. */
    private static long segmentSize(Random random) {
        return (long) (100_000 * Math.exp(random.nextDouble() * Math.log(200)));
    }

    private void configure(Random random) {
        brokerConfig.put("offsets.topic.compression.codec", new int[]{0, 0, 0, 1, 3}[random.nextInt(5)]);
        brokerConfig.put("group.consumer.migration.policy", "bidirectional");
        brokerConfig.put("offsets.retention.minutes", 20 + random.nextInt(40));
        brokerConfig.put("offsets.retention.check.interval.ms", 60_000L);
        brokerConfig.put("group.initial.rebalance.delay.ms", random.nextBoolean() ? 3000 : 0);
        if (Versions.refreshesRegexes()) brokerConfig.put("group.consumer.regex.refresh.interval.ms", 60_000);
        if (isOfStreams()) configureStreams(random);
        if (profile.equals("troubled")) configureTroubles(new Random(seed * 31 + 7));
        if (shortSessions) sessions(12_000, 2000);
        // Some groups heartbeat slowly (see Group), and quiet ones very slowly.
        int most = isLong() ? Group.QUIET_HEARTBEAT_MS : Group.SLOW_HEARTBEAT_MS;
        for (String kind : List.of("consumer", "share")) {
            brokerConfig.put("group." + kind + ".max.heartbeat.interval.ms", most);
            brokerConfig.put("group." + kind + ".max.session.timeout.ms", Math.max(most * 6, 120_000));
        }
    }

    private void configureStreams(Random random) {
        if (Versions.delaysStreams()) {
            brokerConfig.put("group.streams.initial.rebalance.delay.ms", random.nextBoolean() ? 3000 : 0);
        }
        brokerConfig.put("group.streams.num.standby.replicas", random.nextInt(2));
        brokerConfig.put("group.streams.heartbeat.interval.ms", random.nextBoolean() ? 5000 : 2000);
        brokerConfig.put("group.streams.min.heartbeat.interval.ms", 1000);
        brokerConfig.put("group.streams.max.heartbeat.interval.ms", Group.QUIET_HEARTBEAT_MS);
        brokerConfig.put("group.streams.max.session.timeout.ms", Group.QUIET_SESSION_MS);
    }

    /** What is refused, and the operator's own assignor. */
    private void configureTroubles(Random random) {
        String[] policies = {"bidirectional", "bidirectional", "disabled", "downgrade", "upgrade"};
        brokerConfig.put("group.consumer.migration.policy", policies[random.nextInt(policies.length)]);
        List<String> assignors = new ArrayList<>();
        for (Class<?> one : List.of(UniformAssignor.class, RangeAssignor.class, OwnAssignor.class)) assignors.add(one.getName());
        brokerConfig.put("group.consumer.assignors", String.join(",", assignors));
        if (random.nextInt(2) == 0) brokerConfig.put("group.consumer.max.size", 2 + random.nextInt(3));
        if (random.nextInt(3) == 0) brokerConfig.put("group.max.size", 3 + random.nextInt(3));
        brokerConfig.put("group.min.session.timeout.ms", 6000);
        brokerConfig.put("group.max.session.timeout.ms", 1_800_000);
    }

    private void sessions(int timeoutMs, int heartbeatMs) {
        for (String kind : List.of("consumer", "share")) {
            brokerConfig.put("group." + kind + ".session.timeout.ms", timeoutMs);
            brokerConfig.put("group." + kind + ".min.session.timeout.ms", timeoutMs / 2);
            brokerConfig.put("group." + kind + ".heartbeat.interval.ms", heartbeatMs);
            brokerConfig.put("group." + kind + ".min.heartbeat.interval.ms", heartbeatMs / 2);
        }
    }
}
