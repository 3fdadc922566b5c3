package simulator;

import java.security.Provider;
import java.security.SecureRandomSpi;
import java.util.Random;

/** A provider of "secure" random numbers that repeat, so that ids made by Kafka do. */
public final class SeededIds extends Provider {
    private static final int UUID_BYTES = 16;

    private static Random ids = new Random(1);
    /** For who else asks: names of temporary files, and how many there are differs from run to run. */
    private static Random others = new Random(2);

    SeededIds(long seed) {
        super("SeededIds", "1", "ids that repeat");
        ids = new Random(seed * 31 + 7);
        others = new Random(seed * 31 + 8);
        put("SecureRandom.SeededIds", Numbers.class.getName());
    }

    /** Made by the security framework, by name. */
    public static final class Numbers extends SecureRandomSpi {
        @Override
        protected void engineSetSeed(byte[] seed) { }

        @Override
        protected void engineNextBytes(byte[] bytes) {
            (bytes.length == UUID_BYTES ? ids : others).nextBytes(bytes);
        }

        @Override
        protected byte[] engineGenerateSeed(int length) {
            byte[] bytes = new byte[length];
            others.nextBytes(bytes);
            return bytes;
        }
    }
}
