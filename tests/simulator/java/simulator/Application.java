package simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;

/** A Kafka Streams application: its topology, and the processes that run its threads. */
final class Application {
    private static final int MOST_THREADS = 3;
    private static final int MOST_ENDED = 3;

    /** sources: topics of the application's users; repartition: its own, or null; changelogs: of its stores. */
    record Subtopology(String id, List<String> sources, String repartition, String sink,
                       List<String> changelogs) {
        List<String> inputs() {
            List<String> all = new ArrayList<>(sources);
            if (repartition != null) all.add(repartition);
            return all;
        }
    }

    /** One KafkaStreams instance; its id lies in its state directory, and outlives it. */
    static final class Process {
        final String id;
        final String machine;
        final int most;
        String host;
        int threads;

        Process(String id, String machine, int most) {
            this.id = id;
            this.machine = machine;
            this.most = most;
        }
    }

    final List<Subtopology> subtopologies = new ArrayList<>();
    /** Some applications were built anew, and threads of an older build go on in them. */
    final int topologyEpoch;
    /** Of some a state directory was copied: threads of one process run on two machines. */
    final boolean isCopied;
    /** Of some each thread says in which rack it is. */
    final boolean hasRacks;
    private final Group group;
    private final Random random;
    private final List<Process> ended = new ArrayList<>();
    /** Instance to the process of the thread that had it last. */
    private final Map<String, Process> lastOf = new TreeMap<>();
    private int made;

    Application(Group group) {
        this.group = group;
        random = group.random;
        topologyEpoch = oneIn(4, "built anew") ? 1 : 0;
        isCopied = oneIn(4, "copied");
        hasRacks = oneIn(3, "racks");
        String upstream = null;
        int count = 1 + random.nextInt(3);
        for (int number = 0; number < count; number++) {
            boolean follows = upstream != null && random.nextInt(3) > 0;
            List<String> sources = follows ? List.of() : sources(number);
            String sink = number + 1 < count && random.nextBoolean() ? topic("rep" + number + "-repartition") : null;
            List<String> changelogs = new ArrayList<>();
            int stores = random.nextInt(3);
            for (int store = 0; store < stores; store++) {
                changelogs.add(topic("store" + number + store + "-changelog"));
            }
            // Nobody reads what only the last one writes.
            subtopologies.add(new Subtopology("" + number, sources, follows ? upstream : null, sink, changelogs));
            upstream = sink;
        }
    }

    /** A seed's chances are spent on other things: this hangs on names alone. */
    boolean oneIn(int several, String what) {
        return Math.floorMod((what + group.simulation.settings.seed + group.id).hashCode(), several) == 0;
    }

    /** Of a thread that comes back under its instance mostly the process that it was of. */
    Process forThread(String instance) {
        if (instance == null) return forThread();
        Process last = lastOf.get(instance);
        Process process = last != null && random.nextInt(4) > 0 ? last : forThread();
        ended.remove(process);
        lastOf.put(instance, process);
        return process;
    }

    /** A thread's process: one that runs with room for it, one that ran before, or a new one. */
    private Process forThread() {
        List<Process> running = running();
        running.removeIf(one -> threads(one).size() >= one.most);
        if (!running.isEmpty() && random.nextInt(3) > 0) return running.get(random.nextInt(running.size()));
        if (!ended.isEmpty() && random.nextInt(3) == 0) return ended.remove(random.nextInt(ended.size()));
        int number = made++;
        Process process = new Process(uuid(), group.id + "-host" + number, 1 + random.nextInt(MOST_THREADS));
        process.host = random.nextInt(3) == 0 ? "h" + number : null;
        return process;
    }

    /** Its processes that have threads. */
    List<Process> running() {
        List<Process> found = new ArrayList<>();
//#if >= 4.1
        for (Member member : group.alive()) {
            if (member instanceof StreamsMember one && !found.contains(one.process)) found.add(one.process);
        }
//#endif
        return found;
    }

    List<Member> threads(Process process) {
        List<Member> found = new ArrayList<>();
//#if >= 4.1
        for (Member member : group.alive()) {
            if (member instanceof StreamsMember one && one.process == process) found.add(member);
        }
//#endif
        return found;
    }

    /** Its state directory stays, and it may come back. */
    void ends(Process process) {
        if (!ended.contains(process)) ended.add(process);
        if (ended.size() > MOST_ENDED) ended.remove(0);
    }

    /** topic id/partition of what a task reads. */
    TreeSet<String> inputs(Iterable<String> tasks) {
        TreeSet<String> found = new TreeSet<>();
        Topics topics = group.simulation.topics;
        for (String task : tasks) {
            int slash = task.lastIndexOf('/');
            int partition = Integer.parseInt(task.substring(slash + 1));
            for (Subtopology one : subtopologies) {
                if (!one.id.equals(task.substring(0, slash))) continue;
                for (String topic : one.inputs()) {
                    boolean there = topics.exists(topic) && partition < topics.partitions.get(topic);
                    if (there) found.add(topics.ids.get(topic) + "/" + partition);
                }
            }
        }
        return found;
    }

    /** Makes the internal topics that the coordinator asks for, as a broker does, sooner or later. */
    void create(Map<String, Integer> topics) {
        int takes = random.nextInt(random.nextInt(5) == 0 ? 30_000 : 1500);
        group.simulation.scheduler.after(takes, () -> {
            topics.forEach(group.simulation.topics::create);
            group.simulation.topics.publish();
        });
    }

    /** Its own topics that there are, to their partitions. */
    Map<String, Integer> internal() {
        Map<String, Integer> found = new TreeMap<>();
        for (Subtopology one : subtopologies) {
            List<String> own = new ArrayList<>(one.changelogs);
            if (one.repartition != null) own.add(one.repartition);
            for (String topic : own) {
                Integer count = group.simulation.topics.partitions.get(topic);
                if (count != null) found.put(topic, count);
            }
        }
        return found;
    }

    private List<String> sources(int number) {
        List<String> some = new ArrayList<>(List.of(group.topics.get(number % group.topics.size())));
        String other = group.anyTopic();
        if (random.nextInt(4) == 0 && !some.contains(other)) some.add(other);
        return some;
    }

    private String topic(String name) {
        return group.id + "-" + name;
    }

    private String uuid() {
        return new java.util.UUID(random.nextLong(), random.nextLong()).toString();
    }
}
