package simulator;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** One JSON object as it is written, field by field, in the order of the calls. */
final class Json {
    private final StringBuilder text = new StringBuilder("{");

    static String quote(String value) {
        if (value == null) return "null";
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : value.toCharArray()) {
            if (c == '"' || c == '\\') quoted.append('\\').append(c);
            else if (c < ' ') quoted.append(String.format("\\u%04x", (int) c));
            else quoted.append(c);
        }
        return quoted.append('"').toString();
    }

    static String array(Collection<String> values) {
        return "[" + String.join(",", values.stream().map(Json::quote).toList()) + "]";
    }

    /** {"name":[0,1]}, names in order. */
    static String partitions(Map<String, ? extends Set<Integer>> byName) {
        Json json = new Json();
        new TreeMap<>(byName).forEach((name, numbers) -> json.raw(name, numbersOf(numbers)));
        return json.toString();
    }

    private static String numbersOf(Set<Integer> numbers) {
        return new TreeSet<>(numbers).toString().replace(" ", "");
    }

    Json raw(String name, Object value) {
        if (text.length() > 1) text.append(',');
        text.append(quote(name)).append(':').append(value);
        return this;
    }

    Json text(String name, String value) {
        return raw(name, quote(value));
    }

    /** Left out where it is null. */
    Json given(String name, String value) {
        return value == null ? this : text(name, value);
    }

    @Override
    public String toString() {
        return text + "}";
    }
}
