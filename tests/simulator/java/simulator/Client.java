package simulator;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.SecurityProtocol;

/** Who sends requests about one group, over a network that takes some ms, to the broker that leads it. */
class Client {
    private static final ListenerName LISTENER = new ListenerName("PLAINTEXT");
    final Simulation simulation;
    final String groupId;
    final String clientId;
    final Random random;
    private final String port;
    private InetAddress address;
    final Sender sender;
    private int correlation;

    Client(Simulation simulation, String groupId, String clientId, Random random, String software) {
        this(simulation, groupId, clientId, random, true, software, clientId);
    }

    /** classic: its protocol; software: version of it; machine: clients of one name have one address. */
    Client(Simulation simulation, String groupId, String clientId, Random random, boolean classic,
           String software, String machine) {
        this.simulation = simulation;
        this.groupId = groupId;
        this.clientId = clientId;
        this.random = random;
        port = 32_768 + random.nextInt(28_000) + "-" + random.nextInt(3) + "-" + random.nextInt(10_000);
        sender = Sender.of(this, classic, software, port);
        moveTo(machine);
    }

    /** It goes on elsewhere: its requests come from another address. */
    final void moveTo(String machine) {
        int number = Math.floorMod(machine.hashCode(), 40_000);
        address = address("10.0." + number / 200 + "." + (1 + number % 200));
    }

    /** then: gets the answer, or null and what it was instead; null where nobody waits for it. */
    <R> void send(Request<R> request, BiConsumer<R, Errors> then) {
        simulation.scheduler.after(latency(), () -> {
            simulation.requests++;
            Broker broker = simulation.leaders.coordinatorOf(groupId);
            RequestContext context = context(request.body());
            request.asked().reason = Requests.reasonOf(request.body());
            long received = broker.clock.milliseconds();
            CompletableFuture<R> answer =
                broker.ask(request.asked(), () -> request.call().apply(broker.service, context));
            answer.whenComplete((given, thrown) -> {
                Throwable cause = thrown instanceof CompletionException ? thrown.getCause() : thrown;
                answered(broker, context, request, received, given, cause);
                Errors error = cause == null ? null : Errors.forException(cause);
                if (then == null) return;
                simulation.scheduler.after(latency(), () -> deliver(() -> then.accept(given, error)));
            });
        });
    }

    /** An answer arrives; members may be dead or frozen by then. */
    void deliver(Runnable answer) {
        answer.run();
    }

    int latency() {
        return 1 + random.nextInt(8);
    }

    private <R> void answered(Broker broker, RequestContext context, Request<R> request, long received,
                              R given,
                              Throwable cause) {
        Asked asked = request.asked();
        asked.answer = cause == null ? request.told().apply(given)
            : Json.quote("" + Errors.forException(cause));
        if (cause != null) simulation.count("exception " + asked.kind + " " + cause);
        AbstractResponse response =
            cause == null ? request.response().apply(given) : request.body().getErrorResponse(0, cause);
        Exchange said = Exchange.of(request.body(), response);
        RequestLog.Line line = broker.requestLog.answered(context, request.body(), said, received);
        simulation.truth.answered(broker, asked, context, received, said, line);
    }

    private RequestContext context(AbstractRequest body) {
        RequestHeader header = new RequestHeader(body.apiKey(), body.version(), clientId, correlation++);
        String connection = "10.1.0.1:9092-" + address.getHostAddress() + ":" + port;
        return new RequestContext(header, connection, address, sender.principal(), LISTENER,
            SecurityProtocol.PLAINTEXT, sender.software(), false);
    }

    private static InetAddress address(String host) {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
