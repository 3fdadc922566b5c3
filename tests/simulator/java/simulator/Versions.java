package simulator;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestTopic;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime;
import org.apache.kafka.coordinator.common.runtime.CoordinatorShardBuilder;
//#if >= 4.2
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetadataImage;
import org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataDelta;
import org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataImage;
//#endif
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;
import org.apache.kafka.coordinator.group.GroupCoordinatorShard;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMetadataValue;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;

/** What differs between the versions of Kafka, but for the package of record batches (see Batches). */
final class Versions {
    private static final Duration WRITE_TIMEOUT = Duration.ofMillis(5000);
    private static final int BUFFER_BYTES = 1048588;

    private Versions() { }

    static ApiMessage key(CoordinatorRecord record) {
//#if >= 4.1
        return record.key();
//#else
        return record.key().message();
//#endif
    }

    static int type(CoordinatorRecord record) {
//#if >= 4.1
        return record.key().apiKey();
//#else
        return record.key().version();
//#endif
    }

    static String hashOf(ConsumerGroupMetadataValue value) {
//#if >= 4.1
        return " hash " + value.metadataHash();
//#else
        return "";
//#endif
    }

    static GroupConfigManager groupConfigs(GroupCoordinatorConfig config, Map<String, Object> brokerConfig) {
//#if >= 4.3
        ConfigDef both = new ConfigDef();
        for (ConfigDef one : List.of(GroupCoordinatorConfig.CONFIG_DEF, ShareGroupConfig.CONFIG_DEF)) {
            for (ConfigDef.ConfigKey key : one.configKeys().values()) {
                if (!both.configKeys().containsKey(key.name)) both.define(key);
            }
        }
        AbstractConfig read = new AbstractConfig(both, brokerConfig, false);
        ShareGroupConfig share = new ShareGroupConfig(read);
//#endif
//#if >= 4.4
        return new GroupConfigManager(config, share);
//#elif >= 4.3
        return new GroupConfigManager(Map.of(), config, share);
//#else
        return new GroupConfigManager(config.extractConsumerGroupConfigMap());
//#endif
    }

    static CoordinatorShardBuilder<GroupCoordinatorShard, CoordinatorRecord> shards(
            GroupCoordinatorConfig config, GroupConfigManager groupConfigs) {
//#if >= 4.1
        return new GroupCoordinatorShard.Builder(config, groupConfigs).withAuthorizerPlugin(Optional.empty());
//#else
        return new GroupCoordinatorShard.Builder(config, groupConfigs).withAuthorizer(Optional.empty());
//#endif
    }

    /** lingerMs: -1 for the adaptive one. */
    static void writing(CoordinatorRuntime.Builder<?, ?> builder, int lingerMs) {
//#if >= 4.3
        builder.withWriteTimeout(WRITE_TIMEOUT).withCachedBufferMaxBytesSupplier(() -> BUFFER_BYTES);
//#else
        builder.withDefaultWriteTimeOut(WRITE_TIMEOUT);
//#endif
//#if >= 4.2
        builder.withAppendLingerMs(lingerMs < 0 ? OptionalInt.empty() : OptionalInt.of(lingerMs));
//#else
        builder.withAppendLingerMs(Math.max(0, lingerMs));
//#endif
    }

    static MetadataDelta deltaOf(MetadataImage image) {
//#if >= 4.2
        return new MetadataDelta.Builder().setImage(image).build();
//#else
        return new MetadataDelta(image);
//#endif
    }

    /** Tells a broker of new topics as its service does it, but without the thread that waits for the end. */
    static void metadataChanged(Broker broker, MetadataImage image, MetadataDelta delta,
                                Map<Uuid, String> deleted, List<TopicPartition> deletedPartitions) {
//#if >= 4.3
        CoordinatorMetadataImage seen = new KRaftCoordinatorMetadataImage(image);
        try {
            Memory.field(GroupCoordinatorService.class, "metadataImage").set(broker.service, seen);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
        broker.runtime.onMetadataUpdate(new KRaftCoordinatorMetadataDelta(delta), seen);
        if (deleted.isEmpty()) return;
        List<GroupCoordinatorShard.DeletedTopic> topics = new ArrayList<>();
        deleted.forEach((id, name) -> topics.add(new GroupCoordinatorShard.DeletedTopic(id, name)));
        broker.runtime.scheduleWriteAllOperation("on-topics-deleted", shard -> shard.onTopicsDeleted(topics));
        broker.runtime.scheduleWriteAllOperation("maybe-cleanup-share-group-state",
            shard -> shard.maybeCleanupShareGroupState(deleted.keySet()));
//#else
//#if >= 4.2
        broker.service.onNewMetadataImage(
            new KRaftCoordinatorMetadataImage(image), new KRaftCoordinatorMetadataDelta(delta));
//#else
        broker.service.onNewMetadataImage(image, delta);
//#endif
        if (deletedPartitions.isEmpty()) return;
        broker.runtime.scheduleWriteAllOperation("on-partition-deleted", WRITE_TIMEOUT,
            shard -> shard.onPartitionsDeleted(deletedPartitions));
//#endif
    }

    static CompletableFuture<Void> endTransaction(Broker broker, TopicPartition partition, long producer,
                                                  boolean commit) {
        TransactionResult result = commit ? TransactionResult.COMMIT : TransactionResult.ABORT;
        GroupCoordinatorService service = broker.service;
//#if >= 4.3
        return service.completeTransaction(partition, producer, (short) 0, 0, result, (short) 1);
//#elif >= 4.2
        return service.completeTransaction(partition, producer, (short) 0, 0, result, (short) 1,
            WRITE_TIMEOUT);
//#else
        return service.completeTransaction(partition, producer, (short) 0, 0, result, WRITE_TIMEOUT);
//#endif
    }

    static boolean adaptiveLinger() {
//#if >= 4.2
        return true;
//#else
        return false;
//#endif
    }

    /** Whether a streams group waits a while for its first target. */
    static boolean delaysStreams() {
//#if >= 4.2
        return true;
//#else
        return false;
//#endif
    }

    static boolean refreshesRegexes() {
//#if >= 4.1
        return true;
//#else
        return false;
//#endif
    }

    /** Whether brokers know the ids of a commit's topics: of none, all, or where its request has them. */
    static boolean commitsById(boolean named) {
//#if >= 4.3
        return true;
//#elif >= 4.2
        return named;
//#else
        return false;
//#endif
    }

    /** Of OffsetCommit, as members of the consumer protocol send it. */
    static int newestCommit() {
//#if >= 4.1
        return 10;
//#else
        return 9;
//#endif
    }

    /** epoch: generation or member epoch. */
    static void epochOf(TxnOffsetCommitRequestData commit, int epoch) {
//#if >= 4.4
        commit.setGenerationIdOrMemberEpoch(epoch);
//#else
        commit.setGenerationId(epoch);
//#endif
    }

    static int shareHeartbeat() {
//#if >= 4.1
        return 1;
//#else
        return 0;
//#endif
    }

    static void nameById(OffsetCommitRequestTopic topic, Uuid id) {
//#if >= 4.2
        topic.setTopicId(id);
//#endif
    }
}
