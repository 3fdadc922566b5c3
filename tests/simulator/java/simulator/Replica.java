package simulator;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** A broker's copy of a partition's log: segments named by their first offset, rolled when they are full. */
final class Replica {
    private final Path folder;
    private final long segmentBytes;
    private final List<Path> segments = new ArrayList<>();
    private FileChannel open;
    private long written;
    long bytes;

    Replica(Path segments, Broker broker, String partition, long segmentBytes) {
        this.folder = segments.resolve("broker-" + broker.id).resolve(partition);
        this.segmentBytes = segmentBytes;
    }

    List<Path> segments() {
        return segments;
    }

    void write(long firstOffset, ByteBuffer batches) {
        try {
            if (open == null || written > segmentBytes) roll(firstOffset);
            written += batches.remaining();
            bytes += batches.remaining();
            while (batches.hasRemaining()) open.write(batches);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    void close() throws IOException {
        if (open != null) open.close();
    }

    private void roll(long firstOffset) throws IOException {
        close();
        Files.createDirectories(folder);
        Path segment = folder.resolve(String.format("%020d.log", firstOffset));
        open = FileChannel.open(segment, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        segments.add(segment);
        written = 0;
    }
}
