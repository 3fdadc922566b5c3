package harness;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.KnownTopics;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.LogContext;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.internals.InternalTopologyBuilder;
import org.apache.kafka.streams.processor.internals.LeaderTasks;
import org.apache.kafka.streams.processor.internals.StreamsMetadataState;
import org.apache.kafka.streams.processor.internals.StreamsPartitionAssignor;
import org.apache.kafka.streams.processor.internals.TopologyMetadata;
import org.apache.kafka.streams.processor.internals.assignment.ReferenceContainer;
import org.apache.kafka.streams.state.Stores;

/** One Streams application: its topology, its settings, and the assignor that its leader would run. */
final class Application {
    private static final String ID = "app";

    private final Map<String, Object> settings = new HashMap<>();
    private final Map<String, Integer> partitions = new HashMap<>();
    private final List<String> topics = new ArrayList<>();
    private final TopologyMetadata topology;

    /** application, acceptable lag, warm-ups, standbys, probing interval, topic:partitions:stores of each subtopology. */
    Application(final String[] words) {
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, ID);
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "broker:9092");
        settings.put(StreamsConfig.ACCEPTABLE_RECOVERY_LAG_CONFIG, words[1]);
        settings.put(StreamsConfig.MAX_WARMUP_REPLICAS_CONFIG, words[2]);
        settings.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, words[3]);
        settings.put(StreamsConfig.PROBING_REBALANCE_INTERVAL_MS_CONFIG, words[4]);
        settings.put("internal.task.assignor.class", Decided.class.getName());
        final InternalTopologyBuilder builder = new InternalTopologyBuilder();
        for (final String subtopology : Main.list(words[5])) {
            final String[] parts = subtopology.split(":");
            add(builder, parts[0], Integer.parseInt(parts[1]), Integer.parseInt(parts[2]));
        }
        final StreamsConfig config = new StreamsConfig(settings);
        builder.rewriteTopology(config);
        topology = new TopologyMetadata(builder, config);
        topology.buildAndRewriteTopology();
    }

    private void add(final InternalTopologyBuilder builder, final String topic, final int count, final int stores) {
        topics.add(topic);
        partitions.put(topic, count);
        builder.addSource(null, topic + "-source", null, null, null, topic);
        builder.addProcessor(topic + "-processor", Nothing::new, topic + "-source");
        for (int store = 0; store < stores; store++) {
            final String name = topic + "-store-" + store;
            builder.addStateStore(
                Stores.keyValueStoreBuilder(Stores.inMemoryKeyValueStore(name), Serdes.String(), Serdes.String()),
                topic + "-processor");
            partitions.put(ID + "-" + name + "-changelog", count);
        }
    }

    List<String> topics() {
        return topics;
    }

    Cluster cluster() {
        final Node node = new Node(1, "broker", 9092);
        final Node[] nodes = {node};
        final List<PartitionInfo> infos = new ArrayList<>();
        for (final String topic : topics) {
            for (int each = 0; each < partitions.get(topic); each++) {
                infos.add(new PartitionInfo(topic, each, node, nodes, nodes));
            }
        }
        return new Cluster("cluster", List.of(node), infos, Set.of(), Set.of());
    }

    /** ends: end offset of the first changelog of a task; 0 of others. */
    StreamsPartitionAssignor leader(final ProcessId process, final long now, final Map<String, Long> ends) {
        final ReferenceContainer references = new ReferenceContainer();
        references.time = new Clock(now);
        references.taskManager = new LeaderTasks(references.time, process, topology);
        references.adminClient = admin(ends);
        references.mainConsumer = nobody();
        references.streamsMetadataState =
            new StreamsMetadataState(topology, StreamsMetadataState.UNKNOWN_HOST, new LogContext());
        references.clientTags = Map.of();
        final Map<String, Object> configured = new HashMap<>(settings);
        configured.put(StreamsConfig.InternalConfig.REFERENCE_CONTAINER_PARTITION_ASSIGNOR, references);
        final StreamsPartitionAssignor assignor = new StreamsPartitionAssignor();
        assignor.configure(configured);
        return assignor;
    }

    @SuppressWarnings("unchecked")
    private Admin admin(final Map<String, Long> ends) {
        return (Admin) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {Admin.class}, (self, method, asked) ->
            switch (method.getName()) {
                case "describeTopics" -> KnownTopics.describe((Collection<String>) asked[0], partitions);
                case "listOffsets" -> endOffsets(((Map<TopicPartition, ?>) asked[0]).keySet(), ends);
                default -> throw new UnsupportedOperationException(method.toString());
            });
    }

    /** A consumer that must be there, and is asked only for changelogs that are source topics. */
    @SuppressWarnings("unchecked")
    private Consumer<byte[], byte[]> nobody() {
        return (Consumer<byte[], byte[]>) Proxy.newProxyInstance(
            getClass().getClassLoader(), new Class<?>[] {Consumer.class}, (self, method, asked) -> {
                throw new UnsupportedOperationException(method.toString());
            });
    }

    private ListOffsetsResult endOffsets(final Collection<TopicPartition> asked, final Map<String, Long> ends) {
        final Map<TopicPartition, KafkaFuture<ListOffsetsResultInfo>> answers = new HashMap<>();
        for (final TopicPartition changelog : asked) {
            long end = 0;
            for (int subtopology = 0; subtopology < topics.size(); subtopology++) {
                if (changelog.topic().equals(ID + "-" + topics.get(subtopology) + "-store-0-changelog")) {
                    end = ends.getOrDefault(subtopology + "_" + changelog.partition(), 0L);
                }
            }
            answers.put(changelog, KafkaFuture.completedFuture(new ListOffsetsResultInfo(end, -1, Optional.empty())));
        }
        return new ListOffsetsResult(answers);
    }

    private static final class Nothing implements Processor<Object, Object, Object, Object> {
        @Override
        public void process(final Record<Object, Object> record) {
        }
    }

    /** Stands still: what the leader writes of the time is the same each time. */
    private record Clock(long now) implements Time {
        @Override
        public long milliseconds() {
            return now;
        }

        @Override
        public long nanoseconds() {
            return now * 1_000_000;
        }

        @Override
        public void sleep(final long ms) {
        }

        @Override
        public void waitObject(final Object object, final Supplier<Boolean> condition, final long deadline) {
        }
    }
}
