package simulator;

import java.util.Objects;
import java.util.Random;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.security.auth.KafkaPrincipal;

/**
 * Who sends requests, as brokers know it, and the words that it leaves by; of a random generator of its
 * own, so that a seed's lives are what they would be without it. goodbye: null where it gives no reason.
 */
record Sender(KafkaPrincipal principal, ClientInformation software, String goodbye) {
    /** AbstractCoordinator of the Java client says so where the application has not polled for too long. */
    static final String POLL_TIMEOUT = "consumer poll timeout has expired.";
    private static final String JAVA = "apache-kafka-java";
    private static final String[] GOODBYES = {
        "the consumer is being closed", "the consumer is being closed", POLL_TIMEOUT,
        "the consumer unsubscribed from all topics", "stopped: déployé (v2), see #42", null,
    };
    /** Name and version; the first ones speak the classic protocol alone. */
    private static final String[][] OTHERS = {
        {"sarama", "1.43.0"}, {"librdkafka", "1.9.2"}, {"confluent-kafka-python", "2.3.0-rdkafka-2.3.0"},
        {JAVA, "3.9.1"}, {"librdkafka", "2.12.1"}, {"confluent-kafka-go", "2.13.0-rdkafka-2.13.0"},
    };
    private static final int CLASSIC_ALONE = 3;

    /** classic: of the classic protocol; version: of the Java client, which most are. */
    static Sender of(Client client, boolean classic, String version, String port) {
        long seed = client.simulation.settings.seed;
        Random ofGroup = new Random(Objects.hash(seed, client.groupId));
        Random random = new Random(Objects.hash(seed, client.groupId, client.clientId, port));
        int library = ofGroup.nextInt(3) == 0 ? ofGroup.nextInt(OTHERS.length) : -1;
        if (random.nextInt(8) == 0) library = random.nextInt(OTHERS.length);
        boolean isJava = library < 0 || !classic && library < CLASSIC_ALONE;
        String[] software = isJava ? new String[] {JAVA, version} : OTHERS[library];
        String user = ofGroup.nextInt(4) == 0 ? null : "of " + client.groupId;
        if (random.nextInt(8) == 0) user = "CN=" + client.clientId + ",O=\"Ärger, \\u00e9\"";
        return new Sender(user == null ? KafkaPrincipal.ANONYMOUS : new KafkaPrincipal("User", user),
            new ClientInformation(software[0], software[1]), GOODBYES[random.nextInt(GOODBYES.length)]);
    }
}
