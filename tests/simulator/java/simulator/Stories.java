package simulator;

import java.util.Random;

/** Troubles that take minutes: what the tables of stuck members and groups are for. */
final class Stories {
    private static final int MINUTE_MS = 60_000;
    private static final int LOOP_MS = 50_000;
    private final Group group;
    private final GroupLife life;
    private final Simulation simulation;
    private final Random random;

    Stories(Group group, GroupLife life) {
        this.group = group;
        this.life = life;
        this.simulation = group.simulation;
        this.random = group.random;
    }

    /** A member is removed and comes back several times in 10 minutes, under its id where it can. */
    void fenceLoop() {
        Member member = group.pick(one -> !one.id.isEmpty() && !one.isSpared());
        boolean takesLong = member == null || member.classic() && simulation.settings.isLong();
        if (takesLong) return;
        int times = 3 + random.nextInt(3);
        boolean polls = member instanceof ConsumerMember && random.nextBoolean();
        member.spare(times * (LOOP_MS + group.sessionMs()));
        member.note("fence loop", " " + times + (polls ? " polls too late" : " freezes"));
        fence(member, polls, times);
    }

    /** Subscriptions, topics and assignors change every few seconds: epochs with nobody's coming or going. */
    void epochStorm() {
        int times = 10 + random.nextInt(10);
        simulation.truth.note("epoch storm", group.id + " " + times, group.id, null, null);
        storm(times);
    }

    /** A member is silent, but within its session, while the target moves on. */
    void unreconciled() {
        Member member = group.pick(one -> !one.classic());
        if (member == null) return;
        int silentMs = group.sessionMs() * 4 / 10 + random.nextInt(group.sessionMs() / 2);
        member.note("silent", " " + silentMs);
        member.freeze(silentMs);
        simulation.scheduler.after(500 + random.nextInt(2000), () -> {
            Member other = group.pick(one -> one != member);
            if (other != null && random.nextBoolean()) life.resubscribe(other);
            else if (group.alive().size() < group.maxMembers) life.addOne();
            else life.expandTopic();
        });
    }

    /** A member goes on as one, but commits nothing for long while the others do. */
    void commitsNothing() {
        Member member = group.pick(one -> one.commitMs > 0);
        if (member != null) member.commitNothing(11 * MINUTE_MS + random.nextInt(15 * MINUTE_MS));
    }

    private void fence(Member member, boolean polls, int times) {
        if (times == 0 || member.dead) return;
        int silentMs = group.sessionMs() + 2000 + random.nextInt(10_000);
        int awayMs = polls ? 3000 + random.nextInt(20_000) : silentMs;
        if (polls) ((ConsumerMember) member).pollTooLate(awayMs);
        else member.freeze(awayMs);
        long again = awayMs + 10_000 + random.nextInt(30_000);
        simulation.scheduler.after(again, () -> fence(member, polls, times - 1));
    }

    private void storm(int times) {
        if (times == 0) return;
        Member member = group.pick(one -> true);
        if (member == null) return;
        switch (random.nextInt(4)) {
            case 0 -> life.expandTopic();
            case 1 -> {
                if (member instanceof ConsumerMember one) one.toggleAssignor();
                member.resubscribed();
            }
            default -> life.resubscribe(member);
        }
        simulation.scheduler.after(3000 + random.nextInt(20_000), () -> storm(times - 1));
    }
}
