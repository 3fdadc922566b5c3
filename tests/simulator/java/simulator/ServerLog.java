package simulator;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.regex.Pattern;
import org.slf4j.event.Level;
import org.slf4j.helpers.FormattingTuple;
import org.slf4j.helpers.MessageFormatter;

/** A broker's server.log: what the coordinator logs at INFO and above, laid out as a broker ships, in UTC. */
final class ServerLog {
    private static final DateTimeFormatter TIME =
        DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss,SSS").withZone(ZoneOffset.UTC);
    private static final String KAFKA = "org.apache.kafka.";
    private static final String COORDINATORS = KAFKA + "coordinator.";
    /** An object's address, which Kafka logs of a share group's assignor, is no seed's. */
    private static final Pattern ADDRESS = Pattern.compile("(?<=Assignor)@[0-9a-f]+");
    private final PrintStream out;
    private final BrokerClock clock;
    /** Where the next line begins, in bytes. */
    private long end;

    ServerLog(Path file, BrokerClock clock) throws IOException {
        this.out = new PrintStream(new BufferedOutputStream(Files.newOutputStream(file), 1 << 16), false,
            StandardCharsets.UTF_8);
        this.clock = clock;
    }

    static String time(BrokerClock clock) {
        return TIME.format(Instant.ofEpochMilli(clock.milliseconds()));
    }

    /** Whether a broker writes lines of this logger; the clients of this simulation have no log. */
    static boolean takes(String logger) {
        return Broker.running() != null && logger.startsWith(COORDINATORS);
    }

    /** Into the log of the broker on which the work runs. */
    static void write(Level level, String logger, String message, Object... arguments) {
        FormattingTuple line = MessageFormatter.arrayFormat(message, arguments);
        Broker broker = Broker.running();
        broker.events.logged(message, arguments, broker.serverLog.end);
        broker.serverLog.line(level, logger, line.getMessage(), line.getThrowable());
    }

    /** What a broker prints of its config when it starts. */
    void started(Map<String, Object> config) {
        print("[" + time(clock) + "] INFO KafkaConfig values: ");
        config.forEach((name, value) -> print("\t" + name + " = " + value));
        print(" (kafka.server.KafkaConfig)");
    }

    void close() {
        out.close();
    }

    private void line(Level level, String logger, String message, Throwable thrown) {
        String told = message.indexOf('@') < 0 ? message : ADDRESS.matcher(message).replaceAll("@1640c151");
        print("[" + time(clock) + "] " + level + " " + told + " (" + logger + ")");
        for (Throwable one = thrown; one != null; one = one.getCause()) {
            print((one == thrown ? "" : "Caused by: ") + one);
            frames(one);
        }
    }

    private void print(String line) {
        byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
        out.write(bytes, 0, bytes.length);
        end += bytes.length;
    }

    /** Kafka's own frames: those of this simulation are in no real log. */
    private void frames(Throwable thrown) {
        for (StackTraceElement frame : thrown.getStackTrace()) {
            if (frame.getClassName().startsWith(KAFKA)) print("\tat " + frame);
        }
    }
}
