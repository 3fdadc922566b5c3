package simulator;

import java.security.Provider;
import java.security.SecureRandomSpi;
import java.util.Random;

/** A provider of "secure" random numbers that repeat, so that ids made by Kafka do. */
public final class SeededIds extends Provider {
    private static Random random = new Random(1);

    SeededIds(long seed) {
        super("SeededIds", "1", "ids that repeat");
        random = new Random(seed * 31 + 7);
        put("SecureRandom.SeededIds", Numbers.class.getName());
    }

    /** Made by the security framework, by name. */
    public static final class Numbers extends SecureRandomSpi {
        @Override
        protected void engineSetSeed(byte[] seed) { }

        @Override
        protected void engineNextBytes(byte[] bytes) {
            random.nextBytes(bytes);
        }

        @Override
        protected byte[] engineGenerateSeed(int length) {
            byte[] bytes = new byte[length];
            random.nextBytes(bytes);
            return bytes;
        }
    }
}
