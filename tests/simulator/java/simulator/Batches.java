package simulator;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
//#if >= 4.3
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.FileRecords;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
//#else
import org.apache.kafka.common.record.ControlRecordType;
import org.apache.kafka.common.record.FileRecords;
import org.apache.kafka.common.record.MemoryRecords;
import org.apache.kafka.common.record.MutableRecordBatch;
import org.apache.kafka.common.record.Record;
import org.apache.kafka.common.record.RecordBatch;
//#endif
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.coordinator.common.runtime.CoordinatorPlayback;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;

/** Record batches as a log does with them: offsets and leader epoch are stamped when they are appended. */
final class Batches {
    final ByteBuffer bytes;
    final long records;
    final boolean control;

    private Batches(ByteBuffer bytes, long records, boolean control) {
        this.bytes = bytes;
        this.records = records;
        this.control = control;
    }

    /** A copy of MemoryRecords (an Object here: its package changed) as the log has it from `offset` on. */
    static Batches stamped(Object memoryRecords, long offset, int leaderEpoch) {
        MemoryRecords records = (MemoryRecords) memoryRecords;
        ByteBuffer copy = ByteBuffer.allocate(records.sizeInBytes());
        copy.put(records.buffer().duplicate()).flip();
        long next = offset;
        boolean control = false;
        for (MutableRecordBatch batch : MemoryRecords.readableRecords(copy).batches()) {
            next += batch.lastOffset() - batch.baseOffset() + 1;
            batch.setLastOffset(next - 1);
            batch.setPartitionLeaderEpoch(leaderEpoch);
            control |= batch.isControlBatch();
        }
        return new Batches(copy, next - offset, control);
    }

    /** Replays a segment into a coordinator; the number of its records. */
    static long replay(Path segment, CoordinatorPlayback<CoordinatorRecord> into) throws IOException {
        long records = 0;
        try (FileRecords file = FileRecords.open(segment.toFile(), false)) {
            for (RecordBatch batch : file.batches()) {
                for (Record record : batch) {
                    replay(batch, record, into);
                    records++;
                }
                into.updateLastWrittenOffset(batch.nextOffset());
                into.updateLastCommittedOffset(batch.nextOffset());
            }
        }
        return records;
    }

    private static void replay(RecordBatch batch, Record record,
                               CoordinatorPlayback<CoordinatorRecord> into) {
        if (batch.isControlBatch()) {
            boolean commit = ControlRecordType.parse(record.key()) == ControlRecordType.COMMIT;
            TransactionResult result = commit ? TransactionResult.COMMIT : TransactionResult.ABORT;
            into.replayEndTransactionMarker(batch.producerId(), batch.producerEpoch(), result);
        } else {
            CoordinatorRecord read =
                new GroupCoordinatorRecordSerde().deserialize(record.key(), record.value());
            into.replay(record.offset(), batch.producerId(), batch.producerEpoch(), read);
        }
    }
}
