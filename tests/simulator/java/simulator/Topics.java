package simulator;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.RemoveTopicRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;

/** The topics of the cluster, told to the brokers as metadata images. */
final class Topics {
    private static final List<Uuid> FOLDERS = List.of(Uuid.fromString("AAAAAAAAAAAAAAAAAAAAAQ"));
    final Map<String, Uuid> ids = new TreeMap<>();
    final Map<String, Integer> partitions = new TreeMap<>();
    /** Of all topics that ever were. */
    final Map<String, String> nameById = new TreeMap<>();
    private final Simulation simulation;
    private final Random random;
    private MetadataImage image = MetadataImage.EMPTY;
    private long offset;
    private List<ApiMessage> changes = new ArrayList<>();
    private List<TopicPartition> deletedPartitions = new ArrayList<>();
    private Map<Uuid, String> deleted = new LinkedHashMap<>();

    Topics(Simulation simulation, Random random, int brokers) {
        this.simulation = simulation;
        this.random = random;
        for (int id = 1; id <= brokers; id++) {
            changes.add(new RegisterBrokerRecord().setBrokerId(id).setBrokerEpoch(1).setFenced(false)
                .setIncarnationId(new Uuid(1, id)).setLogDirs(FOLDERS));
        }
    }

    boolean exists(String topic) {
        return ids.containsKey(topic);
    }

    void create(String topic, int count) {
        if (exists(topic)) return;
        Uuid id = uuid(random);
        ids.put(topic, id);
        partitions.put(topic, count);
        nameById.put(id.toString(), topic);
        changes.add(new TopicRecord().setName(topic).setTopicId(id));
        for (int partition = 0; partition < count; partition++) add(id, partition);
        simulation.truth.note("create", topic + " " + count + " " + id);
    }

    void expand(String topic, int by) {
        if (!exists(topic)) return;
        int count = partitions.get(topic);
        for (int partition = count; partition < count + by; partition++) add(ids.get(topic), partition);
        partitions.put(topic, count + by);
        simulation.truth.note("expand", topic + " " + (count + by));
    }

    void delete(String topic) {
        if (!exists(topic)) return;
        Uuid id = ids.remove(topic);
        int count = partitions.remove(topic);
        changes.add(new RemoveTopicRecord().setTopicId(id));
        deleted.put(id, topic);
        for (int partition = 0; partition < count; partition++) {
            deletedPartitions.add(new TopicPartition(topic, partition));
        }
        simulation.truth.note("delete", topic + " " + id);
    }

    /** Tells all brokers what changed since the last time. */
    void publish() {
        if (changes.isEmpty()) return;
        MetadataDelta delta = Versions.deltaOf(image);
        changes.forEach(delta::replay);
        image = delta.apply(new MetadataProvenance(++offset, 1, simulation.scheduler.now(), true));
        Map<Uuid, String> topics = deleted;
        List<TopicPartition> gone = deletedPartitions;
        changes = new ArrayList<>();
        deleted = new LinkedHashMap<>();
        deletedPartitions = new ArrayList<>();
        for (Broker broker : simulation.brokers) {
            Asked asked = new Asked("metadata", null, null, "topics changed");
            broker.tell(asked, () -> Versions.metadataChanged(broker, image, delta, topics, gone));
        }
    }

    /** What a client that watches topics compares: name and id to the number of partitions. */
    Map<String, Integer> seen(Collection<String> topics) {
        Map<String, Integer> seen = new TreeMap<>();
        for (String topic : topics) {
            if (exists(topic)) seen.put(topic + ids.get(topic), partitions.get(topic));
        }
        return seen;
    }

    /** The metadata that a classic group's leader assigns by. */
    Cluster cluster(Set<String> topics) {
        Node node = new Node(1, "localhost", 9092);
        Node[] nodes = {node};
        List<PartitionInfo> all = new ArrayList<>();
        for (String topic : topics) {
            int count = partitions.getOrDefault(topic, 0);
            for (int partition = 0; partition < count; partition++) {
                all.add(new PartitionInfo(topic, partition, node, nodes, nodes));
            }
        }
        return new Cluster("simulated", List.of(node), all, Set.of(), Set.of());
    }

    /** topics.json as an admin client would write it. */
    void write(Path file) throws IOException {
        List<String> all = new ArrayList<>();
        ids.forEach((name, id) -> all.add("{\n  \"topic\" : " + Json.quote(name) + ",\n  \"partitions\" : "
            + partitions.get(name) + ",\n  \"topic_id\" : " + Json.quote(id.toString()) + "\n}"));
        Files.writeString(file, "[ " + String.join(", ", all) + " ]\n");
    }

    /** A random id as Kafka makes them: of version 4, and never with a hyphen in front. */
    static Uuid uuid(Random random) {
        while (true) {
            byte[] bytes = new byte[16];
            random.nextBytes(bytes);
            bytes[6] = (byte) ((bytes[6] & 0x0f) | 0x40);
            bytes[8] = (byte) ((bytes[8] & 0x3f) | 0x80);
            ByteBuffer buffer = ByteBuffer.wrap(bytes);
            Uuid id = new Uuid(buffer.getLong(), buffer.getLong());
            if (!id.toString().startsWith("-")) return id;
        }
    }

    private void add(Uuid topic, int partition) {
        changes.add(new PartitionRecord().setTopicId(topic).setPartitionId(partition)
            .setReplicas(List.of(1)).setIsr(List.of(1))
            .setRemovingReplicas(List.of()).setAddingReplicas(List.of())
            .setLeader(1).setLeaderEpoch(0).setPartitionEpoch(0).setDirectories(FOLDERS));
    }
}
