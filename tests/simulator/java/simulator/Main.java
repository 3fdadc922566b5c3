package simulator;

import java.nio.file.Path;
import java.security.Security;

/** FOLDER SEED GROUPS HOURS PROFILE VERSION SEGMENT_MB: plays one history and writes its recording. */
public final class Main {
    private Main() { }

    public static void main(String[] given) throws Exception {
        long seed = Long.parseLong(given[1]);
        // Kafka takes member ids of the classic protocol from here.
        Security.insertProviderAt(new SeededIds(seed), 1);
        Settings settings =
            new Settings(seed, Integer.parseInt(given[2]), Double.parseDouble(given[3]), given[4],
            given[5], Double.parseDouble(given[6]));
        Simulation simulation = new Simulation(Path.of(given[0]), settings);
        simulation.run();
        System.out.println(simulation.summary());
        System.exit(0);
    }
}
