package simulator;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A group as the coordinator remembers it: what is said of the group, and of each of its members. */
final class GroupState {
    final Map<String, String> header = new LinkedHashMap<>();
    final Map<String, String> members = new LinkedHashMap<>();

    GroupState type(String type) {
        header.put("type", Json.quote(type));
        return this;
    }

    /** The whole header, and the members that changed since `before`, which becomes the state of now. */
    String changesSince(Map<String, String> before) {
        Json json = new Json();
        header.forEach(json::raw);
        Json changed = new Json();
        members.forEach((member, state) -> {
            if (!state.equals(before.get(member))) changed.raw(member, state);
        });
        json.raw("ms", changed);
        List<String> gone = new ArrayList<>(before.keySet());
        gone.removeAll(members.keySet());
        if (!gone.isEmpty()) json.raw("gone", Json.array(gone));
        before.clear();
        before.putAll(members);
        return json.toString();
    }
}
