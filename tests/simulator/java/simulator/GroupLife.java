package simulator;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** What happens to a group, one thing after the other, at the group's own pace. */
final class GroupLife {
    private static final long HOUR_MS = 3600_000;
    private static final int MIXES_WITHIN_MS = 30_000;

    /** weight: how often it happens, against the others. */
    private record Happening(int weight, Runnable what) { }

    private final Group group;
    private final Simulation simulation;
    private final Random random;
    private final Stories stories;
    /** Of the profile of share groups, else null. */
    private final ShareLife shares;
    private final List<Happening> happenings = new ArrayList<>();
    private final int weights;
    private final long paceMs;
    /** Of a long history: a mixed group stays so for more than a day, once. */
    private boolean staysMixed;
    /** It is being made so, and nothing else happens. */
    private boolean mixing;

    GroupLife(Group group) {
        this.group = group;
        simulation = group.simulation;
        random = group.random;
        stories = new Stories(group, this);
        shares = simulation.settings.profile.equals("share") ? new ShareLife(group) : null;
        paceMs = (long) (15_000 * Math.exp(random.nextDouble() * 3.5));
        staysMixed = group.isKind("migration") && random.nextBoolean();
        happen();
        weights = happenings.stream().mapToInt(Happening::weight).sum();
    }

    void begin() {
        int count = 1 + random.nextInt(Math.min(4, group.maxMembers));
        for (int number = 0; number < count; number++) {
            simulation.scheduler.after(random.nextInt(30_000), this::addOne);
        }
        next();
        if (group.troubles != null) group.troubles.begin();
        if (simulation.settings.isLong()) simulation.scheduler.after(1_200_000, this::rest);
    }

    /** A member was turned down or fenced for good; mostly its process is started anew. */
    void failed(Member member) {
        simulation.scheduler.after(1000 + random.nextInt(60_000), () -> {
            group.forget(member);
            boolean anew = random.nextInt(3) > 0 && group.alive().size() < group.maxMembers;
            if (anew) group.add(member.classic(), member.instance);
        });
    }

    /** A newcomer of the kind that the group takes now. */
    Member addOne() {
        return group.add(!group.speaksConsumer, null);
    }

    void resubscribe(Member member) {
        List<String> some = new ArrayList<>(group.topics);
        some.add(group.sharedTopic());
        Collections.shuffle(some, random);
        if (group.isKind("streams")) {
            member.resubscribed();
            return;
        }
        member.topics = new ArrayList<>(some.subList(0, 1 + random.nextInt(some.size())));
        member.note("subscribe", " " + member.topics);
        if (member instanceof ConsumerMember one && group.regexes && random.nextInt(2) == 0) {
            one.regex = one.regex == null || random.nextBoolean() ? group.pattern() : null;
        }
        member.resubscribed();
    }

    void expandTopic() {
        simulation.topics.expand(group.anyTopic(), 1 + random.nextInt(3));
        simulation.topics.publish();
    }

    private void happen() {
        if (group.isKind("streams")) {
            happenToStreams();
            return;
        }
        if (simulation.settings.profile.equals("share")) {
            happenToShares();
            return;
        }
        may(18, this::grow);
        may(14, this::leave);
        may(8, () -> one().crash());
        may(6, () -> one().freeze((long) (2000 * Math.exp(random.nextDouble() * 4))));
        may(10, () -> resubscribe(one()));
        may(4, this::expandTopic);
        may(3, this::deleteTopic);
        may(3, this::newTopic);
        may(4, this::changeAssignor);
        may(4, group.admin::anythingToLiveGroup);
        may(6, this::waveGoes);
        may(3, this::allGo);
        may(5, this::bounce);
        may(4, this::duplicateInstance);
        may(3, () -> flap(one().classic(), 3 + random.nextInt(4)));
        may(2, this::changeSharedTopic);
        may(simulation.settings.profile.equals("failover") ? 10 : 3, this::leaderFalls);
        may(3, stories::fenceLoop);
        may(3, stories::epochStorm);
        may(3, stories::unreconciled);
        may(3, stories::commitsNothing);
        if (group.isKind("migration")) may(45, this::migrate);
    }

    private void happenToStreams() {
        StreamsLife threads = new StreamsLife(group);
        may(18, this::grow);
        may(10, this::leave);
        may(6, () -> one().crash());
        may(5, () -> one().freeze((long) (2000 * Math.exp(random.nextDouble() * 4))));
        may(5, () -> one().resubscribed());
        may(6, threads::expandTopic);
        may(2, this::deleteTopic);
        may(3, group.admin::anythingToLiveGroup);
        may(5, this::waveGoes);
        may(3, this::allGo);
        may(8, threads::processEnds);
        may(8, threads::processBounces);
        may(4, threads::threadReplaced);
        may(3, () -> flap(false, 3 + random.nextInt(4)));
        may(3, threads::standbysChange);
        may(2, threads::shutDown);
        may(2, this::changeSharedTopic);
        may(2, this::leaderFalls);
        may(2, stories::unreconciled);
        may(2, stories::commitsNothing);
        may(3, this::convertOffline);
        if (!simulation.settings.hasStaticThreads()) return;
        may(10, this::leave);
        may(8, this::bounce);
        may(6, threads::pollsTooLate);
        may(4, this::duplicateInstance);
    }

    private void happenToShares() {
        may(18, this::grow);
        may(14, this::leave);
        may(8, () -> one().crash());
        may(8, () -> one().freeze((long) (2000 * Math.exp(random.nextDouble() * 4))));
        may(10, () -> resubscribe(one()));
        may(4, this::expandTopic);
        may(3, this::deleteTopic);
        may(3, this::newTopic);
        may(4, shares::administered);
        may(5, this::waveGoes);
        may(6, this::allGo);
        may(5, this::bounce);
        may(3, () -> flap(!group.speaksConsumer, 3 + random.nextInt(4)));
        may(2, this::changeSharedTopic);
        may(3, this::leaderFalls);
    }

    private void may(int weight, Runnable what) {
        happenings.add(new Happening(weight, what));
    }

    private void next() {
        long wait = 100 + (long) (-Math.log(1 - random.nextDouble()) * paceMs);
        simulation.scheduler.after(wait, () -> {
            if (simulation.over()) return;
            if (!group.quiet() && !mixing) act();
            next();
        });
    }

    private void act() {
        if (group.alive().isEmpty()) {
            beginAgain();
            return;
        }
        if (free().isEmpty()) return;
        int drawn = random.nextInt(weights);
        for (Happening one : happenings) {
            drawn -= one.weight;
            if (drawn < 0) {
                one.what.run();
                return;
            }
        }
    }

    /** Of a group without members: often nothing, so that it expires. */
    private void beginAgain() {
        if (shares != null) {
            shares.left();
            return;
        }
        int drawn = random.nextInt(100);
        if (drawn < 20) group.admin.anything();
        if (drawn < 20 || drawn >= 50) return;
        if (group.isKind("migration", "streams") && random.nextInt(3) == 0) group.speaksConsumer = !group.speaksConsumer;
        int count = 1 + random.nextInt(group.maxMembers);
        for (int number = 0; number < count; number++) {
            simulation.scheduler.after(random.nextInt(5000), () -> {
                if (group.alive().size() < group.maxMembers) addOne();
            });
        }
    }

    /** Rather one that is in no story. */
    private Member one() {
        Member free = group.pick(member -> !member.isSpared());
        return free != null ? free : group.pick(member -> true);
    }

    private List<Member> free() {
        return group.alive().stream().filter(member -> !member.isSpared()).toList();
    }

    private void grow() {
        if (group.alive().size() >= group.maxMembers) one().close();
        else if (group.isKind("migration")) group.add(random.nextBoolean() != group.speaksConsumer, null);
        else addOne();
    }

    private void leave() {
        Member member = one();
        boolean forGood = !member.classic() && member.instance != null && random.nextInt(4) == 0;
        if (forGood) member.closeForGood();
        else member.close();
        if (member.instance == null || random.nextInt(4) == 0) return;
        int away = 200 + random.nextInt(random.nextInt(3) == 0 ? 80_000 : 8000);
        simulation.scheduler.after(away, () -> group.add(member.classic(), member.instance));
    }

    private void deleteTopic() {
        String topic = group.anyTopic();
        if (!topic.startsWith(group.id)) return;
        simulation.topics.delete(topic);
        simulation.topics.publish();
        if (random.nextInt(3) == 0) return;
        simulation.scheduler.after(500 + random.nextInt(60_000), () -> create(topic, 6));
    }

    private void newTopic() {
        String topic = group.id + "-t" + random.nextInt(5);
        create(topic, 4);
        if (!group.topics.contains(topic)) group.topics.add(topic);
    }

    private void create(String topic, int most) {
        simulation.topics.create(topic, 1 + random.nextInt(most));
        simulation.topics.publish();
    }

    private void changeAssignor() {
        if (group.pick(member -> member instanceof ConsumerMember) instanceof ConsumerMember member) {
            member.assignor = random.nextBoolean() ? "range" : "uniform";
            member.resubscribed();
        }
    }

    private void waveGoes() {
        for (Member member : free()) {
            if (random.nextBoolean()) member.close();
        }
    }

    private void allGo() {
        for (Member member : free()) {
            if (random.nextBoolean()) member.crash();
            else member.close();
        }
    }

    private void bounce() {
        Member member = one();
        member.close();
        simulation.scheduler.after(random.nextInt(1500), () -> group.add(member.classic(), member.instance));
    }

    /** A second process with the same instance id. */
    private void duplicateInstance() {
        Member member = group.pick(one -> one.instance != null);
        if (member != null) group.add(member.classic(), member.instance);
    }

    private void flap(boolean classic, int times) {
        if (times == 0) return;
        Member member = group.add(classic, null);
        simulation.scheduler.after(1500 + random.nextInt(10_000), () -> {
            if (random.nextInt(3) == 0) member.crash();
            else member.close();
            simulation.scheduler.after(500 + random.nextInt(5000), () -> flap(classic, times - 1));
        });
    }

    private void changeSharedTopic() {
        String topic = "shared-" + random.nextInt(6) + (random.nextInt(3) == 0 ? "-more" : "");
        if (!simulation.topics.exists(topic)) simulation.topics.create(topic, 1 + random.nextInt(4));
        else if (random.nextInt(3) == 0 && topic.endsWith("-more")) simulation.topics.delete(topic);
        else if (simulation.topics.partitions.get(topic) < 30) simulation.topics.expand(topic, 1);
        simulation.topics.publish();
    }

    /** Mostly while the group is busy: then records of two leaders, with two clocks, are neighbours. */
    private void leaderFalls() {
        if (!simulation.settings.leadersFall()) return;
        boolean busy = random.nextInt(4) > 0;
        if (busy) {
            resubscribe(one());
            grow();
        }
        OffsetsLog log = simulation.leaders.logOf(group.id);
        int downMs = simulation.settings.downMs(random);
        simulation.scheduler.after(random.nextInt(600), () -> simulation.leaders.failover(log, downMs));
        if (!busy) return;
        simulation.scheduler.after(random.nextInt(1500), () -> {
            if (group.alive().isEmpty()) addOne();
            else resubscribe(one());
        });
    }

    /** One more member rolled the way that newcomers go, a change of direction, all at once, or offline. */
    private void migrate() {
        int drawn = random.nextInt(10);
        if (drawn < 7) rollOne();
        else if (drawn == 7) group.speaksConsumer = !group.speaksConsumer;
        else if (drawn == 8) rollAll();
        else convertOffline();
    }

    private void rollOne() {
        Member member = group.pick(one -> one.classic() == group.speaksConsumer && !one.isSpared());
        if (member == null) {
            if (random.nextInt(3) == 0) group.speaksConsumer = !group.speaksConsumer;
            return;
        }
        boolean classic = !group.speaksConsumer;
        member.close();
        simulation.scheduler.after(100 + random.nextInt(6000), () -> group.add(classic, member.instance));
    }

    private void rollAll() {
        boolean classic = !group.speaksConsumer;
        for (Member member : free()) {
            if (member.classic() == classic) continue;
            simulation.scheduler.after(random.nextInt(20_000), () -> {
                member.close();
                int away = 50 + random.nextInt(2000);
                simulation.scheduler.after(away, () -> group.add(classic, member.instance));
            });
        }
    }

    private void convertOffline() {
        free().forEach(Member::close);
        group.speaksConsumer = !group.speaksConsumer;
        boolean classic = !group.speaksConsumer;
        simulation.scheduler.after(1000 + random.nextInt(60_000), () -> {
            if (!group.alive().isEmpty()) return;
            int count = 1 + random.nextInt(group.maxMembers);
            for (int number = 0; number < count; number++) group.add(classic, null);
        });
    }

    /** Of long histories: nothing happens for hours, between busy stretches of minutes. */
    private void rest() {
        if (simulation.over()) return;
        mixing = staysMixed && !group.isMixed();
        if (mixing) {
            group.add(group.pick(Member::classic) == null, null);
            simulation.scheduler.after(MIXES_WITHIN_MS, this::rest);
            return;
        }
        long restMs = HOUR_MS + random.nextInt((int) (7 * HOUR_MS));
        if (staysMixed) {
            staysMixed = false;
            restMs += 24 * HOUR_MS;
            simulation.truth.note("stays mixed", group.id + " " + restMs, group.id, null, null);
        }
        group.setQuiet(true);
        simulation.scheduler.after(restMs, () -> {
            group.setQuiet(false);
            // Members heartbeat rarely until they were told to do it often.
            long busyMs = Group.QUIET_HEARTBEAT_MS + 600_000 + random.nextInt(1_800_000);
            simulation.scheduler.after(busyMs, this::rest);
        });
    }
}
