package simulator;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.coordinator.common.runtime.PartitionWriter;
import org.apache.kafka.storage.internals.log.LogConfig;
import org.apache.kafka.storage.internals.log.VerificationGuard;

/** A broker's PartitionWriter; a proxy, since the signatures of its methods differ by version. */
final class LogWriter implements InvocationHandler {
    private final Simulation simulation;
    private final Broker broker;
    private final LogConfig config = new LogConfig(Map.of());

    private LogWriter(Simulation simulation, Broker broker) {
        this.simulation = simulation;
        this.broker = broker;
    }

    static PartitionWriter of(Simulation simulation, Broker broker) {
        Class<?>[] kind = {PartitionWriter.class};
        LogWriter writer = new LogWriter(simulation, broker);
        return (PartitionWriter) Proxy.newProxyInstance(LogWriter.class.getClassLoader(), kind, writer);
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] given) {
        return switch (method.getName()) {
            case "registerListener", "deregisterListener" -> {
                log(given[0]).listen((PartitionWriter.Listener) given[1], method.getName().startsWith("r"));
                yield null;
            }
            case "config" -> config;
            case "maybeStartTransactionVerification" ->
                CompletableFuture.completedFuture(new VerificationGuard());
            case "deleteRecords" -> CompletableFuture.completedFuture(null);
            case "append" -> log(given[0]).append(broker, given[2]);
            default -> throw new IllegalStateException("not known: " + method);
        };
    }

    private OffsetsLog log(Object partition) {
        return simulation.logs[((TopicPartition) partition).partition()];
    }
}
