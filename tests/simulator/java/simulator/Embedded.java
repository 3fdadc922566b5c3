package simulator;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeSet;
import org.apache.kafka.common.message.JoinGroupResponseData;

/** What a classic group's members say to each other inside of JoinGroup and SyncGroup. */
interface Embedded {
    /** consumer or connect. */
    String type();

    /** Protocol to metadata, in the order of preference. */
    LinkedHashMap<String, byte[]> metadata(ClassicMember member);

    /** Member to assignment, made by the leader. Throws where its assignor does. */
    Map<String, byte[]> assign(JoinGroupResponseData joined);

    /** What the member owns from now on. */
    TreeSet<String> assigned(ClassicMember member, String protocol, byte[] assignment);

    /** Whether members go on owning while they join. */
    boolean cooperative();
}
