package simulator;

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Supplier;
import org.apache.kafka.common.compress.Compression;
//#if >= 4.4
import org.apache.kafka.common.utils.internals.LogContext;
//#else
import org.apache.kafka.common.utils.LogContext;
//#endif
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntimeMetrics;
import org.apache.kafka.coordinator.common.runtime.Serializer;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;
import org.apache.kafka.coordinator.group.GroupCoordinatorShard;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;

/** A broker: Kafka's own group coordinator service with a clock, logs and event loop of its own. */
final class Broker {
    private static Broker current;
    final int id;
    final BrokerClock clock;
    final BrokerTimer timer;
    final EventLoop events;
    final ServerLog serverLog;
    final RequestLog requestLog;
    final GroupConfigManager groupConfigs;
    final CoordinatorRuntime<GroupCoordinatorShard, CoordinatorRecord> runtime;
    final GroupCoordinatorService service;
    final Memory memory;

    Broker(Simulation simulation, int id, long clockOffsetMs, Random random) throws IOException {
        this.id = id;
        clock = new BrokerClock(simulation.scheduler, clockOffsetMs);
        timer = new BrokerTimer(simulation.scheduler, this);
        events = new EventLoop(simulation, this);
        serverLog = new ServerLog(simulation.root.resolve("broker-" + id + ".server.log"), clock);
        requestLog = new RequestLog(simulation.root.resolve("broker-" + id + ".request.log.gz"), clock,
            new Random(random.nextLong()));
        if (simulation.settings.profile.equals("troubled")) serverLog.started(simulation.settings.brokerConfig);
        GroupCoordinatorConfig config = GroupCoordinatorConfig.fromProps(simulation.settings.brokerConfig);
        groupConfigs = Versions.groupConfigs(config, simulation.settings.brokerConfig);
        GroupCoordinatorMetrics metrics = new GroupCoordinatorMetrics();
        String prefix = "GroupCoordinator id=" + id;
        LogContext logContext = new LogContext("[" + prefix + "] ");
        var unmeasured = (CoordinatorRuntimeMetrics) standIn(CoordinatorRuntimeMetrics.class);
        var builder = new CoordinatorRuntime.Builder<GroupCoordinatorShard, CoordinatorRecord>()
            .withTime(clock).withTimer(timer).withLogPrefix(prefix).withLogContext(logContext)
            .withEventProcessor(events).withPartitionWriter(LogWriter.of(simulation, this))
            .withLoader(new Loader(simulation, this))
            .withCoordinatorShardBuilderSupplier(() -> Versions.shards(config, groupConfigs))
            .withCoordinatorRuntimeMetrics(unmeasured)
            .withCoordinatorMetrics(metrics).withSerializer(serializer())
            .withCompression(Compression.of(config.offsetTopicCompressionType()).build())
            .withExecutorService(new Background(simulation.scheduler, this, random));
        Versions.writing(builder, simulation.settings.lingerMs);
        runtime = builder.build();
        memory = new Memory(runtime);
        service = service(List.of(logContext, config, runtime, metrics, groupConfigs, timer, clock));
        run(() -> service.startup(() -> Simulation.PARTITIONS));
    }

    /** Runs work on this broker: what Kafka's classes log meanwhile is in its log. */
    void run(Runnable work) {
        Broker before = current;
        current = this;
        try {
            work.run();
        } finally {
            current = before;
        }
    }

    /** Calls the service for someone. */
    <T> T ask(Asked asked, Supplier<T> call) {
        Broker before = current;
        current = this;
        try {
            return events.asking(asked, call);
        } finally {
            current = before;
        }
    }

    void tell(Asked asked, Runnable call) {
        ask(asked, () -> {
            call.run();
            return null;
        });
    }

    /** The broker on which work runs now, or null. */
    static Broker running() {
        return current;
    }

    void close() throws IOException {
        serverLog.close();
        requestLog.close();
    }

    /** Kafka's serializer, which tells the event loop of each record. */
    private Serializer<CoordinatorRecord> serializer() {
        GroupCoordinatorRecordSerde serde = new GroupCoordinatorRecordSerde();
        return new Serializer<>() {
            @Override
            public byte[] serializeKey(CoordinatorRecord record) {
                events.written(record);
                return serde.serializeKey(record);
            }

            @Override
            public byte[] serializeValue(CoordinatorRecord record) {
                return serde.serializeValue(record);
            }
        };
    }

    /** The service by its only constructor, whose parts differ by version. */
    private static GroupCoordinatorService service(List<Object> parts) {
        try {
            Constructor<?> constructor = GroupCoordinatorService.class.getDeclaredConstructors()[0];
            constructor.setAccessible(true);
            List<Object> given = new ArrayList<>();
            for (Class<?> kind : constructor.getParameterTypes()) {
                given.add(parts.stream().filter(kind::isInstance).findFirst().orElseGet(() -> standIn(kind)));
            }
            return (GroupCoordinatorService) constructor.newInstance(given.toArray());
        } catch (ReflectiveOperationException unknown) {
            throw new IllegalStateException("not a version of Kafka that is known here", unknown);
        }
    }

    /** Kafka's own stand-in for what keeps the state of share groups, else one that answers nothing. */
    private static Object standIn(Class<?> kind) {
        if (kind == Optional.class) return Optional.empty();
        try {
            String name = kind.getPackageName() + ".NoOpStatePersister";
            boolean persister = kind.getSimpleName().equals("Persister");
            if (persister) return Class.forName(name).getConstructor().newInstance();
        } catch (ReflectiveOperationException none) {
            throw new IllegalStateException("no stand-in for " + kind, none);
        }
        return Proxy.newProxyInstance(Broker.class.getClassLoader(), new Class<?>[]{kind},
            (proxy, method, given) -> {
            Class<?> answer = method.getReturnType();
            if (answer == boolean.class) return false;
            if (answer == int.class) return 0;
            return answer == long.class ? (Object) 0L : null;
        });
    }
}
