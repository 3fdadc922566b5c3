package simulator;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupCurrentMemberAssignmentValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupMetadataValue;
import org.apache.kafka.coordinator.group.generated.ConsumerGroupTargetAssignmentMetadataValue;
import org.apache.kafka.coordinator.group.generated.GroupMetadataValue;
import org.apache.kafka.coordinator.group.generated.OffsetCommitKey;
import org.apache.kafka.coordinator.group.generated.OffsetCommitValue;

/** Records of the offsets topic in short, for people and checkers: type, member, what changed. */
final class RecordText {
    private static final Map<String, Function<Object, String>> READERS = new ConcurrentHashMap<>();

    private RecordText() { }

    /** The group of a record's key, or null: it has none. */
    static String groupOf(CoordinatorRecord record) {
        return field(Versions.key(record), "groupId", "group");
    }

    static boolean isCommit(CoordinatorRecord record) {
        return Versions.key(record) instanceof OffsetCommitKey;
    }

    static String of(CoordinatorRecord record) {
        ApiMessage key = Versions.key(record);
        ApiMessage value = record.value() == null ? null : record.value().message();
        if (key instanceof OffsetCommitKey commit) {
            String what = value == null ? "gone" : "" + ((OffsetCommitValue) value).offset();
            return "K1 " + commit.group() + " " + commit.topic() + "-" + commit.partition() + " " + what;
        }
        String who = field(key, "memberId", "regularExpression", "topic");
        return "K" + Versions.type(record) + (who == null ? "" : " " + who)
            + (value == null ? " gone" : said(value));
    }

    private static String said(ApiMessage value) {
        if (value instanceof ConsumerGroupMetadataValue group) {
            return " epoch " + group.epoch() + Versions.hashOf(group);
        }
        if (value instanceof ConsumerGroupTargetAssignmentMetadataValue target) {
            return " target epoch " + target.assignmentEpoch();
        }
        if (value instanceof ConsumerGroupCurrentMemberAssignmentValue member) {
            return " epoch " + member.memberEpoch() + " state " + member.state();
        }
        if (value instanceof GroupMetadataValue group) {
            return " generation " + group.generation() + " members " + group.members().size();
        }
        return "";
    }

    /** The first of the named text fields that the message has; keys have no interface in common. */
    private static String field(Object message, String... names) {
        Class<?> kind = message.getClass();
        return READERS.computeIfAbsent(kind.getName() + names[0], unused -> reader(kind, names))
            .apply(message);
    }

    private static Function<Object, String> reader(Class<?> kind, String[] names) {
        for (String name : names) {
            try {
                var method = kind.getMethod(name);
                return message -> {
                    try {
                        return (String) method.invoke(message);
                    } catch (ReflectiveOperationException impossible) {
                        throw new IllegalStateException(impossible);
                    }
                };
            } catch (NoSuchMethodException next) {
                continue;
            }
        }
        return message -> null;
    }
}
