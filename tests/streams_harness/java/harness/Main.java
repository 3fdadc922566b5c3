package harness;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.internals.assignment.AssignmentInfo;
import org.apache.kafka.streams.processor.internals.assignment.SubscriptionInfo;

/**
 * Lines in, lines out, words parted by tabs. The README beside says what they are.
 */
public final class Main {
    private static final int VERSION = 11;

    private Application application;
    private String leader;
    private long now;
    private Map<String, Long> ends;
    private final Map<String, Subscription> members = new TreeMap<>();

    public static void main(final String[] arguments) throws Exception {
        final BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        final PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        final Main main = new Main();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            main.take(line.split("\t", -1), out);
            out.flush();
        }
    }

    private void take(final String[] words, final PrintStream out) {
        switch (words[0]) {
            case "application" -> application = new Application(words);
            case "generation" -> {
                now = Long.parseLong(words[1]);
                leader = words[2];
                ends = numbers(words[3]);
                members.clear();
            }
            case "member" -> members.put(words[1], subscription(words));
            case "assign" -> assign(out);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    /** member, id, process id, partitions owned, generation, unique field, sums by task. */
    private Subscription subscription(final String[] words) {
        final Map<TaskId, Long> sums = new TreeMap<>();
        numbers(words[6]).forEach((task, sum) -> sums.put(TaskId.parse(task), sum));
        final SubscriptionInfo info = new SubscriptionInfo(
            VERSION, VERSION, new ProcessId(UUID.fromString(words[2])), null, sums, Byte.parseByte(words[5]), 0, Map.of());
        final List<TopicPartition> owned = list(words[3]).stream().map(Main::partition).toList();
        return new Subscription(application.topics(), info.encode(), owned, Integer.parseInt(words[4]), Optional.empty());
    }

    private void assign(final PrintStream out) {
        final UUID process = SubscriptionInfo.decode(members.get(leader).userData()).processId().id();
        members.values().forEach(each -> each.userData().rewind());
        final Map<String, Assignment> assignments = application.leader(new ProcessId(process), now, ends)
            .assign(application.cluster(), new GroupSubscription(members)).groupAssignment();
        Decided.tasks.forEach((id, each) ->
            print(out, "decided", id.id(), tasks(each.active()), tasks(each.standby())));
        members.forEach((id, subscription) -> {
            final Assignment assignment = assignments.get(id);
            final AssignmentInfo info = AssignmentInfo.decode(assignment.userData());
            final String partitions = assignment.partitions().stream().map(TopicPartition::toString).collect(Collectors.joining(","));
            final String next = info.nextRebalanceMs() == Long.MAX_VALUE ? "" : String.valueOf(info.nextRebalanceMs());
            print(out, "given", id, partitions, tasks(info.activeTasks()), tasks(info.standbyTasks().keySet()), next,
                base64(subscription.userData()), base64(assignment.userData()));
        });
        print(out, "done", Decided.probes);
    }

    private static void print(final PrintStream out, final Object... words) {
        out.println(Arrays.stream(words).map(String::valueOf).collect(Collectors.joining("\t")));
    }

    private static String tasks(final Collection<TaskId> tasks) {
        return tasks.stream().sorted().map(TaskId::toString).collect(Collectors.joining(","));
    }

    private static String base64(final ByteBuffer buffer) {
        final ByteBuffer whole = buffer.duplicate();
        whole.rewind();
        final byte[] bytes = new byte[whole.remaining()];
        whole.get(bytes);
        return Base64.getEncoder().encodeToString(bytes);
    }

    static List<String> list(final String joined) {
        return joined.isEmpty() ? new ArrayList<>() : Arrays.asList(joined.split(","));
    }

    private static Map<String, Long> numbers(final String joined) {
        final Map<String, Long> numbers = new TreeMap<>();
        for (final String pair : list(joined)) {
            final String[] parts = pair.split("=");
            numbers.put(parts[0], Long.parseLong(parts[1]));
        }
        return numbers;
    }

    private static TopicPartition partition(final String text) {
        final int dash = text.lastIndexOf('-');
        return new TopicPartition(text.substring(0, dash), Integer.parseInt(text.substring(dash + 1)));
    }
}
