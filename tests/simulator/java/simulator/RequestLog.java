package simulator;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.network.RequestConvertToJson;
import org.apache.kafka.network.Session;

/** A broker's request log at DEBUG, group APIs only: Kafka's own JSON of requests that were answered. */
final class RequestLog {
    private final PrintStream out;
    private final BrokerClock clock;
    private final Random random;
    /** Where a line begins, in bytes, and how long it says that the request took. */
    record Line(long position, double totalMs) { }

    /** Where the next line begins in the unpacked text, in bytes. */
    private long end;

    RequestLog(Path file, BrokerClock clock, Random random) throws IOException {
        this.out = Truth.packed(file);
        this.clock = clock;
        this.random = random;
    }

    /** receivedAt: by this broker's clock. What passed since, as of a parked join, is remote time. */
    Line answered(RequestContext context, AbstractRequest request, Exchange said,
                  long receivedAt) {
        double queued = part(8), local = part(10), answerQueued = part(10), sent = part(20);
        double remote = Math.max(clock.milliseconds() - receivedAt, 0) + part(30);
        double total = Math.round((queued + local + remote + answerQueued + sent) * 1000) / 1000.0;
        Session session = new Session(context.principal, context.clientAddress);
        var document = RequestConvertToJson.requestDescMetrics(context.header,
            Optional.of(said.request()), Optional.of(said.response()),
            context, session, false, total, queued, local, remote, 0, answerQueued, sent, 0, 0);
        long begin = end;
        byte[] line = ("[" + ServerLog.time(clock) + "] DEBUG Completed request:" + document
            + " (kafka.request.logger)\n").getBytes(StandardCharsets.UTF_8);
        out.write(line, 0, line.length);
        end += line.length;
        return new Line(begin, total);
    }

    void close() {
        out.close();
    }

    /** Some tenths of a ms, three digits. */
    private double part(int divisor) {
        return Math.round(-Math.log(1 - random.nextDouble()) * 2000 / divisor) / 1000.0;
    }
}
