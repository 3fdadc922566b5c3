package simulator;

import java.util.List;
import java.util.Random;

/** What happens to a Kafka Streams application besides what happens to any group. */
final class StreamsLife {
    private final Group group;
    private final Random random;

    StreamsLife(Group group) {
        this.group = group;
        random = group.random;
    }

    /** A topic gets more partitions; so do the application's own, at once or when somebody thinks of it. */
    void expandTopic() {
        Topics topics = group.simulation.topics;
        int by = 1 + random.nextInt(3);
        topics.expand(group.anyTopic(), by);
        topics.publish();
        int later = random.nextBoolean() ? 0 : 3000 + random.nextInt(60_000);
        group.simulation.scheduler.after(later, () -> {
            int most = group.topics.stream().mapToInt(one -> topics.partitions.getOrDefault(one, 0)).max().orElse(0);
            group.application.internal().forEach((topic, count) -> {
                if (count < most && count + by <= most) topics.expand(topic, by);
            });
            topics.publish();
        });
    }

    void processEnds() {
        Application.Process process = one();
        if (process == null) return;
        boolean crashes = random.nextInt(3) == 0;
        end(process, crashes);
        group.application.ends(process);
    }

    /** The process is started anew, with its state directory or without. */
    void processBounces() {
        Application.Process process = one();
        if (process == null) return;
        List<Member> threads = group.application.threads(process);
        end(process, random.nextInt(4) == 0);
        if (random.nextInt(4) > 0) group.application.ends(process);
        for (Member thread : threads) {
            group.simulation.scheduler.after(200 + random.nextInt(8000), () -> add(thread.instance));
        }
    }

    /** An uncaught exception: the thread goes, and another one comes. */
    void threadReplaced() {
        Member member = group.pick(one -> !one.classic());
        if (member == null) return;
        member.close();
        group.simulation.scheduler.after(random.nextInt(500), () -> add(member.instance));
    }

    /** Its application polls too late: it leaves, and comes back under its id. */
    void pollsTooLate() {
//#if >= 4.1
        if (group.pick(one -> !one.classic() && !one.isSpared()) instanceof StreamsMember member) {
            member.pollTooLate(500 + random.nextInt(20_000));
        }
//#endif
    }

    void standbysChange() {
        group.setStandbys(random.nextInt(3));
    }

    void shutDown() {
//#if >= 4.1
        if (group.pick(one -> !one.classic()) instanceof StreamsMember member) member.shutDownApplication();
//#endif
    }

    private Application.Process one() {
        List<Application.Process> running = group.application.running();
        return running.isEmpty() ? null : running.get(random.nextInt(running.size()));
    }

    private void end(Application.Process process, boolean crashes) {
        for (Member thread : group.application.threads(process)) {
            if (crashes) thread.crash();
            else group.simulation.scheduler.after(random.nextInt(300), thread::close);
        }
    }

    /** instance: of the thread whose place it takes, or null. */
    private void add(String instance) {
        if (group.alive().size() < group.maxMembers) group.add(!group.speaksConsumer, instance);
    }
}
