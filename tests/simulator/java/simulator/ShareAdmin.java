package simulator;

//#if >= 4.1
import java.util.List;
import org.apache.kafka.common.message.AlterShareGroupOffsetsRequestData;
import org.apache.kafka.common.message.AlterShareGroupOffsetsRequestData.AlterShareGroupOffsetsRequestPartition;
import org.apache.kafka.common.message.AlterShareGroupOffsetsRequestData.AlterShareGroupOffsetsRequestTopic;
import org.apache.kafka.common.message.AlterShareGroupOffsetsRequestData.AlterShareGroupOffsetsRequestTopicCollection;
import org.apache.kafka.common.message.DeleteShareGroupOffsetsRequestData;
import org.apache.kafka.common.message.DeleteShareGroupOffsetsRequestData.DeleteShareGroupOffsetsRequestTopic;
import org.apache.kafka.common.requests.AlterShareGroupOffsetsRequest;
import org.apache.kafka.common.requests.AlterShareGroupOffsetsResponse;
import org.apache.kafka.common.requests.DeleteShareGroupOffsetsRequest;
import org.apache.kafka.common.requests.DeleteShareGroupOffsetsResponse;
//#endif

/** An administrator who sets and deletes offsets of a share group (4.1 and later). */
final class ShareAdmin extends Client {
    private final Group group;

    ShareAdmin(Group group) {
        super(group.simulation, group.id, "share-admin", group.random, "4.3.1");
        this.group = group;
    }

    void alterOffsets(String topic) {
//#if >= 4.1
        AlterShareGroupOffsetsRequestTopicCollection topics = new AlterShareGroupOffsetsRequestTopicCollection();
        topics.add(new AlterShareGroupOffsetsRequestTopic().setTopicName(topic).setPartitions(List.of(
            new AlterShareGroupOffsetsRequestPartition().setPartitionIndex(0)
                .setStartOffset(random.nextInt(100)))));
        AlterShareGroupOffsetsRequestData data =
            new AlterShareGroupOffsetsRequestData().setGroupId(group.id).setTopics(topics);
        Asked asked = new Asked("alter share offsets", group.id, null, topic);
        send(new Request<>(asked, new AlterShareGroupOffsetsRequest.Builder(data).build((short) 0),
            (service, context) -> service.alterShareGroupOffsets(context, group.id, data),
            AlterShareGroupOffsetsResponse::new, given -> null), null);
//#endif
    }

    void deleteOffsets(String topic) {
//#if >= 4.1
        DeleteShareGroupOffsetsRequestData data = new DeleteShareGroupOffsetsRequestData().setGroupId(group.id)
            .setTopics(List.of(new DeleteShareGroupOffsetsRequestTopic().setTopicName(topic)));
        Asked asked = new Asked("delete share offsets", group.id, null, topic);
        send(new Request<>(asked, new DeleteShareGroupOffsetsRequest.Builder(data).build((short) 0),
            (service, context) -> service.deleteShareGroupOffsets(context, data),
            DeleteShareGroupOffsetsResponse::new, given -> null), null);
//#endif
    }
}
