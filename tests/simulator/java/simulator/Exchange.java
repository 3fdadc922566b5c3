package simulator;

import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.network.RequestConvertToJson;

/**
 * A request and its answer, as Kafka's own JSON has both.
 *
 * Of requests that name several members, groups or partitions here, all have one, or the first error counts.
 */
record Exchange(JsonNode request, JsonNode response) {
    static Exchange of(AbstractRequest request, AbstractResponse response) {
        return new Exchange(RequestConvertToJson.request(request),
            RequestConvertToJson.response(response, request.version()));
    }

    /** The error of the whole answer, or the first of a part of it; 0 where there is none. */
    int error() {
        return firstError(response);
    }

    /** Adds what the truth tells of it; what is empty is left out. */
    void addTo(Json json) {
        JsonNode asking = request.has("members") ? request.get("members").path(0) : request;
        String instance = asking.has("instanceId") ? "instanceId" : "groupInstanceId";
        text(json, "gm", asking, "memberId");
        text(json, "gi", asking, instance);
        text(json, "why", asking, "reason");
        text(json, "am", response, "memberId");
        text(json, "say", response, "errorMessage");
        number(json, "st", request, "sessionTimeoutMs");
        for (String name : new String[] {"memberEpoch", "generationId", "generationIdOrMemberEpoch"}) {
            number(json, "ge", request, name);
            number(json, "ae", response, name);
        }
        if (error() != 0) json.raw("code", error()).text("error", Errors.forCode((short) error()).name());
    }

    private static int firstError(JsonNode node) {
        int code = node.path("errorCode").asInt(0);
        for (JsonNode part : node) {
            if (code == 0 && part.isContainerNode()) code = firstError(part);
        }
        return code;
    }

    private static void text(Json json, String name, JsonNode from, String field) {
        String value = from.path(field).asText("");
        if (!value.isEmpty() && !from.path(field).isNull()) json.text(name, value);
    }

    private static void number(Json json, String name, JsonNode from, String field) {
        if (from.path(field).isNumber()) json.raw(name, from.get(field).asLong());
    }
}
