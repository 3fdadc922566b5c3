package simulator;

/** Who asked the coordinator for an operation, and what for: a member, an administrator, changed topics. */
final class Asked {
    final String kind;
    final String group;
    final String member;
    final String detail;
    /** Why, in the words of a client of the classic protocol; null where it has none. */
    String reason;
    /** The coordinator's answer as JSON; null until it came, or where none is told. */
    String answer;

    Asked(String kind, String group, String member, String detail) {
        this.kind = kind;
        this.group = group;
        this.member = member;
        this.detail = detail;
    }

    /** Of the coordinator itself: a timer, a task; the name is Kafka's own of the event. */
    static Asked internal(String name) {
        return new Asked("internal", null, null, name);
    }
}
