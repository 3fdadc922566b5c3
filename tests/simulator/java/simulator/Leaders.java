package simulator;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import org.apache.kafka.common.utils.Utils;

/** Who leads which partition of the offsets topic, and how that changes. */
final class Leaders {
    private static final int ZOMBIE_MS = 3000;
    private final Simulation simulation;
    private final Random random;
    int failovers;

    Leaders(Simulation simulation, Random random) {
        this.simulation = simulation;
        this.random = random;
    }

    OffsetsLog logOf(String group) {
        return simulation.logs[Utils.abs(group.hashCode()) % Simulation.PARTITIONS];
    }

    /** Whom a client takes for a group's coordinator: the last one that was elected. */
    Broker coordinatorOf(String group) {
        return logOf(group).leader;
    }

    void firstElection() {
        for (OffsetsLog log : simulation.logs) {
            elect(log, simulation.brokers.get(log.name.partition() % simulation.brokers.size()));
        }
    }

    /** Nobody leads the partition, until another broker, or the same again, is elected and loads it. */
    void failover(OffsetsLog log, long downMs) {
        if (!log.led || log.unsettled) return;
        Broker former = log.leader;
        Broker next = next(former);
        note("resign", log, "" + log.name.partition());
        log.led = false;
        log.unsettled = true;
        log.forgetUnwritten();
        failovers++;
        // A former leader may learn of it even after the next one loaded: what it writes meanwhile fails.
        int unaware = random.nextInt(3) == 0 ? random.nextInt(ZOMBIE_MS) : 0;
        long told = next == former ? Math.min(unaware, Math.max(0, downMs - 1)) : unaware;
        int epoch = log.leaderEpoch + 1 + random.nextInt(2);
        simulation.scheduler.after(told, () -> {
            resign(former, log, epoch);
            log.unsettled = false;
        });
        simulation.scheduler.after(downMs, () -> {
            log.leaderEpoch = epoch;
            elect(log, next);
        });
    }

    /** All that a broker leads is led by others, or by itself again, after a while. */
    void brokerFalls(Broker broker, long downMs) {
        simulation.truth.note("broker falls", broker.id + " " + downMs);
        for (OffsetsLog log : simulation.logs) {
            if (log.ledBy(broker)) failover(log, downMs + random.nextInt(200));
        }
    }

    private Broker next(Broker former) {
        List<Broker> others = new ArrayList<>(simulation.brokers);
        if (others.size() > 1 && random.nextInt(5) > 0) others.remove(former);
        return others.get(random.nextInt(others.size()));
    }

    private void elect(OffsetsLog log, Broker broker) {
        int number = log.name.partition();
        log.leader = broker;
        log.led = true;
        note("elect", log, number + " " + log.leaderEpoch);
        for (Broker one : simulation.brokers) {
            if (one == broker) one.run(() -> one.service.onElection(number, log.leaderEpoch));
            else if (!log.unsettled) resign(one, log, log.leaderEpoch);
        }
    }

    private void resign(Broker broker, OffsetsLog log, int epoch) {
        Asked asked = new Asked("resign", null, null, null);
        broker.tell(asked, () -> broker.service.onResignation(log.name.partition(), OptionalInt.of(epoch)));
    }

    private void note(String what, OffsetsLog log, String detail) {
        simulation.truth.leaderNote(what, detail, log);
    }
}
