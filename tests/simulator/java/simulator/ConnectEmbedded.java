package simulator;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.message.JoinGroupResponseData;

/** Workers of Kafka Connect: the protocol of its incremental rebalances, sessioned (version 2) or not (1). */
final class ConnectEmbedded implements Embedded {
    private static final int SESSIONED = 2;
    private static final int COMPATIBLE = 1;
    private static final int TASKS = 3;
    private final int connectors;
    private byte[] allocation;

    ConnectEmbedded(int connectors) {
        this.connectors = connectors;
    }

    @Override
    public String type() {
        return "connect";
    }

    @Override
    public boolean cooperative() {
        return true;
    }

    @Override
    public LinkedHashMap<String, byte[]> metadata(ClassicMember member) {
        LinkedHashMap<String, byte[]> metadata = new LinkedHashMap<>();
        String url = "http://" + member.clientId + ":8083/";
        metadata.put("sessioned", written(out -> config(out, SESSIONED, url)));
        metadata.put("compatible", written(out -> config(out, COMPATIBLE, url)));
        metadata.put("default", written(out -> {
            out.writeShort(0);
            text(out, url);
            out.writeLong(connectors);
        }));
        return metadata;
    }

    @Override
    public Map<String, byte[]> assign(JoinGroupResponseData joined) {
        List<String> members =
            new ArrayList<>(joined.members().stream().map(one -> one.memberId()).sorted().toList());
        Map<String, byte[]> assignments = new TreeMap<>();
        for (int number = 0; number < members.size(); number++) {
            int own = number;
            assignments.put(members.get(number),
                written(out -> assignment(out, joined.leader(), own, members.size())));
        }
        return assignments;
    }

    /** What it owns are connectors and tasks, of which nothing is committed in this group. */
    @Override
    public TreeSet<String> assigned(ClassicMember member, String protocol, byte[] assignment) {
        allocation = assignment;
        return new TreeSet<>();
    }

    private void config(DataOutputStream out, int version, String url) throws IOException {
        out.writeShort(version);
        text(out, url);
        out.writeLong(connectors);
        out.writeInt(allocation == null ? -1 : allocation.length);
        if (allocation != null) out.write(allocation);
    }

    /** Version, error, leader, url, config offset, connectors with tasks, nothing revoked, no delay. */
    private void assignment(DataOutputStream out, String leader, int own, int members) throws IOException {
        out.writeShort(SESSIONED);
        out.writeShort(0);
        text(out, leader);
        text(out, "http://leader:8083/");
        out.writeLong(connectors);
        List<Integer> mine = new ArrayList<>();
        for (int connector = own; connector < connectors; connector += members) mine.add(connector);
        out.writeInt(mine.size());
        for (int connector : mine) {
            text(out, "connector-" + connector);
            out.writeInt(TASKS + 1);
            for (int task = -1; task < TASKS; task++) out.writeInt(task);
        }
        out.writeInt(0);
        out.writeInt(0);
    }

    private static void text(DataOutputStream out, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeShort(bytes.length);
        out.write(bytes);
    }

    private interface Writing {
        void to(DataOutputStream out) throws IOException;
    }

    private static byte[] written(Writing writing) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            writing.to(out);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
        return bytes.toByteArray();
    }
}
