package simulator;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.network.RequestConvertToJson;
import org.apache.kafka.network.Session;

/** A broker's request log at DEBUG, group APIs only: Kafka's own JSON of requests that were answered. */
final class RequestLog {
    private final PrintStream out;
    private final BrokerClock clock;
    private final Random random;

    RequestLog(Path file, BrokerClock clock, Random random) throws IOException {
        this.out = Truth.packed(file);
        this.clock = clock;
        this.random = random;
    }

    /** receivedAt: by this broker's clock. What passed since, as of a parked join, is remote time. */
    void answered(RequestContext context, AbstractRequest request, AbstractResponse response,
                  long receivedAt) {
        double queued = part(8), local = part(10), answerQueued = part(10), sent = part(20);
        double remote = Math.max(clock.milliseconds() - receivedAt, 0) + part(30);
        double total = Math.round((queued + local + remote + answerQueued + sent) * 1000) / 1000.0;
        Session session = new Session(context.principal, context.clientAddress);
        var document = RequestConvertToJson.requestDescMetrics(context.header,
            Optional.of(RequestConvertToJson.request(request)),
            Optional.of(RequestConvertToJson.response(response, request.version())),
            context, session, false, total, queued, local, remote, 0, answerQueued, sent, 0, 0);
        out.println("[" + ServerLog.time(clock) + "] DEBUG Completed request:" + document
            + " (kafka.request.logger)");
    }

    void close() {
        out.close();
    }

    /** Some tenths of a ms, three digits. */
    private double part(int divisor) {
        return Math.round(-Math.log(1 - random.nextDouble()) * 2000 / divisor) / 1000.0;
    }
}
