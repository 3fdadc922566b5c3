package simulator;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.coordinator.common.runtime.CoordinatorPlayback;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;

/** PARTITION_FOLDER FROM TO [GROUP]: records between two offsets, as Kafka's own classes read them. */
public final class Dump implements CoordinatorPlayback<CoordinatorRecord> {
    private final long from;
    private final long to;
    private final String group;

    private Dump(long from, long to, String group) {
        this.from = from;
        this.to = to;
        this.group = group;
    }

    public static void main(String[] given) throws Exception {
        Dump dump =
            new Dump(Long.parseLong(given[1]), Long.parseLong(given[2]), given.length > 3 ? given[3] : null);
        List<Path> segments;
        try (Stream<Path> files = Files.list(Path.of(given[0]))) {
            segments = files.filter(one -> one.toString().endsWith(".log")).sorted().toList();
        }
        for (Path segment : segments) Batches.replay(segment, dump);
    }

    @Override
    public void replay(long offset, long producer, short producerEpoch, CoordinatorRecord record) {
        boolean own = group == null || group.equals(RecordText.groupOf(record));
        if (offset < from || offset > to || !own) return;
        Object value = record.value() == null ? "tombstone" : record.value().message();
        System.out.println(offset + " " + record.key() + " " + value);
    }

    @Override
    public void replayEndTransactionMarker(long producer, short producerEpoch, TransactionResult result) {
        System.out.println("marker " + producer + " " + result);
    }

//#if >= 4.2
    @Override
    public void updateLastWrittenOffset(long offset) { }

    @Override
    public void updateLastCommittedOffset(long offset) { }
//#else
    @Override
    public void updateLastWrittenOffset(Long offset) { }

    @Override
    public void updateLastCommittedOffset(Long offset) { }
//#endif
}
