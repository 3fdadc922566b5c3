package simulator;

import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;

/**
 * A request to the coordinator.
 *
 * told: of the answer, as the truth tells it, JSON or null.
 */
record Request<R>(Asked asked, AbstractRequest body,
                  BiFunction<GroupCoordinatorService, RequestContext, CompletableFuture<R>> call,
                  Function<R, AbstractResponse> response, Function<R, String> told) { }
