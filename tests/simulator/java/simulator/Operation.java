package simulator;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What one event of the coordinator appended, and the groups as they were after it. */
final class Operation {
    final int partition;
    final long firstOffset;
    final long lastOffset;
    final long trueTime;
    final long recordTime;
    final int broker;
    final Asked asked;
    /** Each record in short. */
    final List<String> records = new ArrayList<>();
    /** Group to its state; empty where the operation only committed offsets. */
    final Map<String, GroupState> states = new LinkedHashMap<>();

    Operation(int partition, long firstOffset, long lastOffset, Broker broker, long trueTime, Asked asked) {
        this.partition = partition;
        this.firstOffset = firstOffset;
        this.lastOffset = lastOffset;
        this.broker = broker.id;
        this.recordTime = broker.clock.milliseconds();
        this.trueTime = trueTime;
        this.asked = asked;
    }
}
