package simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.function.Predicate;

/** A group: what it is made of, and who is in it. What happens to it is in GroupLife. */
final class Group {
    static final int QUIET_HEARTBEAT_MS = 300_000;
    static final int QUIET_SESSION_MS = 1_800_000;
    static final int SLOW_HEARTBEAT_MS = 20_000;
    private static final int SLOW_SESSION_MS = 90_000;
    private static final String[] SOFTWARE = {"4.0.0", "4.1.1", "4.2.0", "4.3.1"};
    private static final String OLD_SOFTWARE = "3.7.2";
    final Simulation simulation;
    final String kind;
    final String id;
    final Random random;
    final GroupLife life;
    final Admin admin;
    final List<String> topics = new ArrayList<>();
    final int maxMembers;
    final boolean regexes;
    /** Commits are sometimes made in transactions. */
    final boolean transactions;
    /** Of a streams group, else null. */
    final Application application;
    /** Of profile `troubled`, else null. */
    final Troubles troubles;
    /** What newcomers speak. */
    boolean speaksConsumer;
    /** Newcomers are members of a share group. */
    boolean speaksShare;
    private final List<Member> members = new ArrayList<>();
    private final List<String> protocols;
    private final boolean statics;
    private final double slowOdds;
    private final boolean commits;
    private final int rebalanceTimeoutMs;
    private final int connectors;
    private final boolean slowHeartbeats;
    private boolean quiet;
    private int made;
    /** num.standby.replicas of the group's config. */
    private int standbys;

    Group(Simulation simulation, int number, String kind) {
        this.simulation = simulation;
        this.kind = kind;
        id = kind + "-" + number;
        random = new Random(simulation.random.nextLong());
        maxMembers = 2 + random.nextInt(random.nextInt(10) == 0 ? 14 : 5);
        protocols = switch (random.nextInt(3)) {
            case 0 -> List.of("range");
            case 1 -> List.of("cooperative-sticky");
            default -> List.of("range", "cooperative-sticky");
        };
        statics = simulation.settings.hasStaticThreads()
            || !isKind("share", "streams") && (kind.equals("static") || random.nextInt(8) == 0);
        regexes = !isKind("classic", "connect", "share", "streams") && random.nextInt(8) == 0;
        slowOdds = random.nextInt(3) == 0 ? 0.3 : 0.03;
        commits = !isKind("connect", "share") && random.nextInt(2) == 0;
        transactions = commits && random.nextInt(4) == 0;
        rebalanceTimeoutMs = new int[]{300_000, 60_000, 30_000, 20_000}[random.nextInt(4)];
        speaksConsumer = !isKind("classic", "migration", "connect");
        speaksShare = kind.equals("share");
        connectors = 1 + random.nextInt(6);
        slowHeartbeats = isKind("consumer", "static", "migration") && random.nextInt(6) == 0;
        makeTopics();
        application = kind.equals("streams") ? new Application(this) : null;
        if (application != null) standbys = random.nextInt(3);
        troubles = simulation.settings.profile.equals("troubled") ? new Troubles(this, number) : null;
        admin = new Admin(this);
        life = new GroupLife(this);
        configure();
        if (slowHeartbeats) simulation.truth.note("slow heartbeats", id, id, null, null);
    }

    boolean isKind(String... kinds) {
        return List.of(kinds).contains(kind);
    }

    /** Of a new client; the newer protocols need a newer one. */
    String software(boolean classic) {
        boolean old = random.nextInt(3) == 0 && classic;
        return old ? OLD_SOFTWARE : SOFTWARE[random.nextInt(SOFTWARE.length)];
    }

    List<Member> alive() {
        return members.stream().filter(member -> !member.dead).toList();
    }

    /** One that lives, or null. */
    Member pick(Predicate<Member> which) {
        List<Member> found = alive().stream().filter(which).toList();
        return found.isEmpty() ? null : found.get(random.nextInt(found.size()));
    }

    /** Members of the classic protocol give up all that they own in each rebalance. */
    boolean isEager() {
        return protocols.contains("range");
    }

    boolean isMixed() {
        return pick(Member::classic) != null && pick(member -> !member.classic()) != null;
    }

    void forget(Member member) {
        members.remove(member);
    }

    /** A new process. Its client id is mostly its own. */
    Member add(boolean classic, String givenInstance) {
        int number = made++;
        String instance = givenInstance != null ? givenInstance : newInstance(number);
        boolean sameId = random.nextInt(6) == 0;
        String clientId = sameId ? id + "-same" : id + "-" + (classic ? "c" : "u") + number;
        Member member = make(classic, clientId, instance);
        member.rebalanceTimeoutMs = rebalanceTimeoutMs;
        member.topics = new ArrayList<>(topics);
        if (topics.size() > 1 && random.nextInt(5) == 0) member.topics.remove(random.nextInt(topics.size()));
        // Some never commit, while the others do.
        if (commits && random.nextInt(12) > 0) member.commitMs = 5000 + random.nextInt(25_000);
        else if (commits) member.note("never commits", "");
        if (troubles != null) troubles.prepare(member);
        members.removeIf(one -> one.dead);
        members.add(member);
        String speaks = classic ? "classic" : speaksShare || isKind("streams") ? kind : "consumer";
        String detail = id + " " + clientId + " " + speaks + " " + member.instance;
        simulation.truth.note("start", detail, id, clientId, member.id);
        member.start();
        return member;
    }

    /**
     * Where a new client runs: a third alone on a machine that is named like it, the rest with the
     * two that came before or after, on one of four that the group has.
     */
    String machineOf(String clientId) {
        return made % 3 == 0 ? clientId : id + " machine " + made / 3 % 4;
    }

    String pattern() {
        return switch (random.nextInt(3)) {
            case 0 -> id + "-t.*";
            case 1 -> id + "-t[0-1]";
            default -> "shared-" + random.nextInt(3) + ".*";
        };
    }

    String anyTopic() {
        return topics.get(random.nextInt(topics.size()));
    }

    String sharedTopic() {
        return simulation.sharedTopics.get(random.nextInt(simulation.sharedTopics.size()));
    }

    /** ms that a member takes to give partitions up. */
    int revokeDelay(Member member) {
        if (random.nextDouble() >= slowOdds) return random.nextInt(51);
        int ms = (int) (1000 * Math.exp(random.nextDouble() * 4.2));
        member.note("slow revoke", " " + ms);
        return ms;
    }

    int syncDelay() {
        return random.nextInt(40) == 0 ? random.nextInt(3000) : random.nextInt(5);
    }

    int joinDelay() {
        return random.nextInt(20) == 0 ? random.nextInt(8000) : random.nextInt(30);
    }

    /** Nothing happens, and members heartbeat and commit rarely, so that days cost little. */
    boolean quiet() {
        return quiet;
    }

    void setQuiet(boolean quiet) {
        this.quiet = quiet;
        simulation.truth.note(quiet ? "quiet" : "busy", id, id, null, null);
        configure();
    }

    /** An administrator sets how many standbys there are to be. */
    void setStandbys(int standbys) {
        this.standbys = standbys;
        simulation.truth.note("standbys", id + " " + standbys, id, null, null);
        configure();
    }

    int sessionMs() {
        if (slowHeartbeats) return SLOW_SESSION_MS;
        return simulation.settings.shortSessions ? 12_000 : 45_000;
    }

    /** The group's own config, as an administrator sets it. */
    private void configure() {
        Properties config = new Properties();
        String prefix = isKind("share", "streams") ? kind : "consumer";
        if (standbys > 0) config.put("streams.num.standby.replicas", "" + standbys);
        if (quiet || slowHeartbeats) {
            int heartbeatMs = quiet ? QUIET_HEARTBEAT_MS : SLOW_HEARTBEAT_MS;
            config.put(prefix + ".session.timeout.ms", "" + (quiet ? QUIET_SESSION_MS : SLOW_SESSION_MS));
            config.put(prefix + ".heartbeat.interval.ms", "" + heartbeatMs);
        }
        for (Broker broker : simulation.brokers) broker.groupConfigs.updateGroupConfig(id, config);
    }

    private void makeTopics() {
        int count = 1 + random.nextInt(3);
        for (int number = 0; number < count; number++) {
            String name = id + "-t" + number;
            simulation.topics.create(name, 1 + random.nextInt(random.nextInt(6) == 0 ? 24 : 6));
            topics.add(name);
        }
        if (random.nextInt(4) == 0) topics.add(sharedTopic());
    }

    private String newInstance(int number) {
        if (!statics || random.nextInt(5) == 0) return null;
        String instance = id + "-i" + random.nextInt(maxMembers);
        boolean taken = pick(member -> instance.equals(member.instance)) != null;
        return taken ? id + "-i" + (20 + number) : instance;
    }

    private Member make(boolean classic, String clientId, String instance) {
//#if >= 4.1
        if (application != null && !classic) {
            StreamsMember thread = new StreamsMember(this, application.forThread(instance), instance);
            thread.leavesWhenSlow = random.nextBoolean();
            return thread;
        }
//#endif
        if (speaksShare) return new ShareMember(this, clientId);
        if (classic) {
            Embedded embedded = kind.equals("connect")
                ? new ConnectEmbedded(connectors) : new ConsumerEmbedded(simulation.topics, protocols, troubles != null && troubles.userData);
            return new ClassicMember(this, clientId, instance, embedded);
        }
        ConsumerMember member = new ConsumerMember(this, clientId, instance);
        if (regexes && random.nextInt(3) > 0) member.regex = pattern();
        member.assignor = random.nextInt(4) == 0 ? random.nextBoolean() ? "range" : "uniform" : null;
        member.leavesWhenSlow = random.nextBoolean();
        return member;
    }
}
