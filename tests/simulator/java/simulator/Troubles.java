package simulator;

import java.util.List;
import java.util.Random;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignorException;

/**
 * Of profile `troubled`: what a coordinator refuses, and what fails in it. With chances of its own, beside all
 * else that happens to a group.
 */
final class Troubles {
    private static final int SHORT_SESSION_MS = 3000;
    private static final int LONG_SESSION_MS = 2_000_000;
    private static final int SHORT_REBALANCE_MS = 10_000;
    private static final int JOINED_MS = 25_000;
    /** By this, histories that tests played before there were such clients have none. */
    private static final long SALT = 115_445;
    private static final long MIX = 0x9E3779B97F4A7C15L;
    private final Group group;
    private final Simulation simulation;
    private final Random random;
    /** Consumers name the operator's own assignor. */
    private final boolean ownAssignor;
    /** The leader's assignor puts data of its own into assignments. */
    final boolean userData;
    /** Most members of the classic protocol are static, and have little time to join. */
    private final boolean statics;
    /** Of a generator of its own, so that other groups live as they would without it. */
    private final Random ownClients;
    /** Most members of the classic protocol are clients whose subscriptions nobody else can read. */
    private final boolean unreadable;
    private long failsUntil;
    private int failure;
    private int made;

    Troubles(Group group, int number) {
        this.group = group;
        simulation = group.simulation;
        random = new Random(simulation.settings.seed * 1_000_003 + number);
        ownAssignor = group.isKind("consumer", "static", "migration") && random.nextInt(3) > 0;
        userData = group.isKind("classic", "migration") && random.nextInt(3) == 0;
        statics = group.isKind("classic") && random.nextInt(2) == 0;
        ownClients = new Random((simulation.settings.seed * SALT + number) * MIX);
        unreadable = group.isKind("classic", "migration") && group.isEager() && ownClients.nextInt(4) == 0;
    }

    void begin() {
        simulation.scheduler.after(5000 + random.nextInt(90_000), this::next);
    }

    /** A process that is to start. */
    void prepare(Member member) {
        if (ownAssignor && member instanceof ConsumerMember one) one.assignor = OwnAssignor.NAME;
        if (unreadable && member instanceof ClassicMember one && ownClients.nextInt(3) > 0) {
            one.speakOwn(ownClients.nextInt(ConsumerEmbedded.FORMS));
        }
        if (!statics || !member.classic()) return;
        member.rebalanceTimeoutMs = SHORT_REBALANCE_MS;
        if (member.instance == null && random.nextInt(4) > 0) member.instance = group.id + "-s" + made++;
    }

    /** The own assignor is asked for a target. Throws while it is to fail. */
    void assigning() {
        if (simulation.scheduler.now() >= failsUntil) return;
        boolean reports = failure < 3;
        String why = "cannot place partitions of " + group.topics.get(0) + " by plan " + failure;
        simulation.truth.note(reports ? "assignor reported" : "assignor failed", why, group.id, null, null);
        if (reports) throw new PartitionAssignorException(why);
        throw new IllegalStateException(why);
    }

    private void next() {
        if (simulation.over()) return;
        if (!group.quiet() && !group.alive().isEmpty()) act();
        simulation.scheduler.after(20_000 + random.nextInt(120_000), this::next);
    }

    private void act() {
        int drawn = random.nextInt(10);
        boolean classic = group.pick(Member::classic) != null;
        if (drawn < 1) loadFails();
        else if (drawn < 3) askForOtherSession();
        else if (statics && drawn < 7) nobodyJoins();
        else if (classic) knock();
        else if (ownAssignor) assignorFails();
        else if (group.isKind("migration", "static")) group.add(true, null);
    }

    /** A process of the consumer protocol comes to members of the classic one, or three do. */
    private void knock() {
        int times = 1 + random.nextInt(3);
        for (int number = 0; number < times; number++) {
            simulation.scheduler.after(number * 4000L + random.nextInt(3000), () -> group.add(false, null));
        }
    }

    private void assignorFails() {
        int ms = (int) (2000 * Math.exp(random.nextDouble() * 4.2));
        failure = random.nextInt(5);
        failsUntil = simulation.scheduler.now() + ms;
        simulation.truth.note("assignor fails", group.id + " " + ms, group.id, null, null);
        if (random.nextBoolean()) group.life.expandTopic();
        else group.life.resubscribe(group.pick(one -> true));
        if (random.nextInt(3) == 0) simulation.scheduler.after(ms / 2, () -> failure = random.nextInt(5));
        simulation.scheduler.after(random.nextInt(ms), group.life::addOne);
    }

    /** A session timeout that no broker here allows. */
    private void askForOtherSession() {
        if (!(group.add(true, null) instanceof ClassicMember member)) return;
        member.sessionMs = random.nextBoolean() ? SHORT_SESSION_MS : LONG_SESSION_MS;
    }

    /** A dynamic member begins a rebalance by leaving, while all that stay are stopped for longer than it lasts. */
    private void nobodyJoins() {
        if (group.pick(member -> !member.classic()) != null) return;
        Member guest = group.add(true, null);
        guest.instance = null;
        guest.spare(JOINED_MS);
        simulation.scheduler.after(JOINED_MS, () -> {
            List<Member> others = group.alive().stream().filter(one -> one != guest).toList();
            if (guest.dead || others.stream().anyMatch(one -> one.instance == null)) return;
            for (Member one : others) one.freeze(SHORT_REBALANCE_MS + 2000 + random.nextInt(18_000));
            simulation.scheduler.after(20 + random.nextInt(500), guest::close);
        });
    }

    private void loadFails() {
        OffsetsLog log = simulation.leaders.logOf(group.id);
        log.loadsToFail = 1 + random.nextInt(2);
        simulation.leaders.failover(log, simulation.settings.downMs(random));
    }
}
