"""Numbers, times and enums as a person reads them. Pure. Values of an enum that are new here are
shown as they are.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Final

NB: Final = "\u00a0"
"""Between a number and its unit, so that no line ends there."""

NONE: Final = "–"
"""What is not known, or is none."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def n(value: float) -> str:
    return f"{value:,.0f}" if isinstance(value, float) else f"{value:,}"


def some(count: int, one: str, many: str | None = None) -> str:
    return f"{n(count)} {one if count == 1 else many or one + 's'}"


def of(part: int, whole: int) -> str:
    """In one line."""
    return f"{n(part)}{NB}of{NB}{n(whole)}"


def lasted(ms: float | None) -> str:
    """A duration, in two units at most."""
    if ms is None:
        return NONE
    ms = int(ms)
    if ms < 1000:
        return f"{ms:,}{NB}ms"
    if ms < 99_950:
        return f"{ms / 1000:.1f}{NB}s"
    seconds = round(ms / 1000)
    for size, unit, smaller, smaller_unit in (
        (86_400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if seconds >= size:
            rest = seconds % size // smaller
            more = f"{NB}{rest}{NB}{smaller_unit}" if rest else ""
            return f"{seconds // size:,}{NB}{unit}{more}"
    raise AssertionError(ms)


def _moment(ms: int) -> datetime | None:
    try:
        return _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return None


def at(ms: int | None, *, seconds: bool = True) -> str:
    """The time of day, UTC; a damaged record may hold one that no calendar has."""
    if ms is None:
        return NONE
    moment = _moment(ms)
    if moment is None:
        return f"{ms:,} ms"
    return moment.strftime("%H:%M:%S" if seconds else "%H:%M")


def day_of(ms: int) -> str:
    """The day of a time, UTC."""
    moment = _moment(ms)
    return at(ms) if moment is None else _day(moment)


def when(ms: int | None) -> str:
    """Day and time, UTC."""
    if ms is None:
        return NONE
    moment = _moment(ms)
    return (
        f"{ms:,} ms after 1970" if moment is None else _day(moment) + moment.strftime(" %H:%M:%S")
    )


def _day(moment: date) -> str:
    return f"{moment.day} {_MONTHS[moment.month - 1]}"


_MONTHS: Final = (
    "Jan",
    "Feb",
    "Mar",
    "Apr",
    "May",
    "Jun",
    "Jul",
    "Aug",
    "Sep",
    "Oct",
    "Nov",
    "Dec",
)


def night(logical_date: date) -> str:
    return _day(logical_date)


def percent_of(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}{NB}%" if whole else NONE


def availability(pct: float | None) -> str:
    """Never rounded up to 100."""
    if pct is None:
        return NONE
    if pct == 100:
        return f"100{NB}%"
    return f"{min(int(pct * 1000) / 1000, 99.999):.3f}{NB}%"


def cohort(name: str) -> str:
    """A cohort, which is a team and software, with words for what is not known."""
    team, _, software = name.rpartition(" / ")
    return (
        f"{'no team' if team == '-' else team} /"
        f" {'software not known' if software == '?' else software}"
        if team
        else name
    )


def word(words: dict[str, str], value: str | None) -> str:
    """An enum in words; a value that is new is shown as it is."""
    return NONE if value is None else words.get(value, value)


PHASE: Final = {
    "CLASSIC": "classic",
    "ROLLED_BACK": "rolled back",
    "MIGRATING": "half-way",
    "MIGRATED": "consumer",
    "NATIVE": "consumer",
    "CONSUMER": "consumer",
    "EMPTY": "empty",
    "NOT_APPLICABLE": "cannot take part",
}

KIND: Final = {
    "CLASSIC": "classic",
    "ROLLED_BACK": "classic",
    "MIGRATING": "mixed",
    "MIGRATED": "consumer",
    "NATIVE": "consumer",
    "CONSUMER": "consumer",
}
"""Phase -> what it counts as; all others are left out."""

REASON: Final = {
    "SLOW_REVOCATION": "does not let go",
    "WAITING_ON_HOLDER": "waits for a holder",
    "NOT_RECONCILING": "ignores its target",
    "STATIC_LIMBO": "static and away",
    "ASSIGNED_NOT_CONSUMING": "owns and does not commit",
    "FENCE_LOOP": "fenced again and again",
    "NOT_HEARTBEATING": "silent",
    "LATE_LEAVE": "left too late",
    "REJECTED_LOOP": "refused again and again",
    "MIGRATION_STALLED": "half-way too long",
    "UPGRADE_REFUSED": "upgrade refused",
    "EPOCH_STORM": "epoch storm",
    "ASSIGNING_STALLED": "no target",
    "ASSIGNOR_FAILED": "assignor fails",
    "JOIN_NEVER_COMPLETES": "join never completes",
    "SYNC_NEVER_COMPLETES": "sync never completes",
    "COORDINATOR_UNAVAILABLE": "no coordinator",
    "LEARNER_NEVER_READY": "learner never catches up",
    "PROBING_LOOP": "probes in vain",
    "REBALANCE_LOOP": "rebalances in a loop",
    "HANDOVER_BOUNCED": "task bounced back",
    "TASK_UNASSIGNED": "task without an owner",
    "FOLLOWUP_MISSING": "follow-up does not come",
    "PROBE_MISSED": "probe does not come",
    "VERSION_MIXED": "versions mixed too long",
    "RESTORING": "restores and does not run",
    "ASSIGNMENT_ERROR": "assignment failed",
    "SHUTDOWN_REQUESTED": "shutdown asked for",
    "DUPLICATE_PROCESS_ID": "process id used twice",
    "TOPOLOGY_NOT_READY": "topology not ready",
    "STALE_TOPOLOGY": "has an old topology",
}

CAUSE: Final = {
    "JOIN": "member joined",
    "LEFT": "member left",
    "FENCED": "member was fenced",
    "LEFT_OR_FENCED": "member left or was fenced",
    "UPGRADE": "changed to consumer",
    "DOWNGRADE": "went back to classic",
    "SUBSCRIPTION": "subscription changed",
    "TOPIC_METADATA": "topic changed",
    "REGEX": "pattern matched again",
    "STATIC_REPLACED": "static member replaced",
    "ASSIGNOR": "assignor changed",
    "REJOIN": "member joined again",
    "UNKNOWN": "unknown",
    "PROBING": "probe of learners",
    "FOLLOWUP": "follow-up of a hand-over",
    "TASKS_CHANGED": "tasks changed",
    "TASKS_CORRUPTED": "state of a task dropped",
    "SHUTDOWN": "shutdown asked for",
    "VERSION": "version of metadata changed",
    "MEMBER_METADATA": "endpoint or tags changed",
    "TOPOLOGY_VALIDATED": "topology validated",
    "CONFIG": "settings changed",
    "REFINED": "placement refined",
    "ASSIGNMENT_NOT_STORED": "assignment was not stored",
    "COORDINATOR_LOAD": "coordinator was loaded",
}

SHORT_CAUSE: Final = {
    "JOIN": "join",
    "LEFT_OR_FENCED": "left",
    "LEFT": "left",
    "FENCED": "fenced",
    "UPGRADE": "upgrade",
    "DOWNGRADE": "downgrade",
    "SUBSCRIPTION": "subscription",
    "TOPIC_METADATA": "topic",
    "REGEX": "pattern",
    "STATIC_REPLACED": "replaced",
    "ASSIGNOR": "assignor",
    "UNKNOWN": "?",
    "PROBING": "probe",
    "FOLLOWUP": "follow-up",
    "TASKS_CHANGED": "tasks",
    "TASKS_CORRUPTED": "dropped",
    "SHUTDOWN": "shutdown",
    "VERSION": "version",
    "MEMBER_METADATA": "metadata",
    "TOPOLOGY_VALIDATED": "topology",
    "CONFIG": "settings",
    "REFINED": "refined",
    "REJOIN": "rejoin",
    "ASSIGNMENT_NOT_STORED": "not stored",
    "COORDINATOR_LOAD": "load",
}

END: Final = {
    "OPEN": "member now",
    "LEFT": "left",
    "FENCED": "fenced",
    "LEFT_OR_FENCED": "left or fenced",
    "REPLACED": "replaced",
    "GROUP_REMOVED": "group removed",
    "UNOBSERVED": "end not seen",
}

WAVE: Final = {
    "START": "start",
    "BOUNCE": "bounce",
    "AWAY": "away",
    "FLAPPING": "flapping",
    "POLL_TIMEOUT": "poll timeout",
    "CRASH": "crash",
    "HOST_SWAP": "host swap",
    "RECREATE": "recreate",
    "STOP": "stop",
    "ROLLOUT": "rollout",
    "RESTART": "restart",
    "SCALE_UP": "scale up",
    "SCALE_DOWN": "scale down",
    "MIXED": "several at once",
}

SCENARIO: Final = {
    "EAGER": "classic, eager",
    "COOPERATIVE": "classic, cooperative",
    "CONSUMER": "consumer",
    "EAGER_STATIC": "classic, eager, static members",
    "CONSUMER_STATIC": "consumer, static members",
    "CONSUMER_HEARTBEAT": "consumer, another heartbeat",
}
"""What a wave is priced under."""

REFUSED: Final = {
    "WAVE_HIDDEN": "part of the wave was not seen",
    "NO_TIMES": "nothing to price it by",
    "UNKNOWN_ENDS": "not known how members went",
    "MIXED_ACTUAL": "of a group that was half-way",
    "NO_ACTUAL": "not known what it cost",
}
"""Why there is no price, or none to hold it against."""

BASIS: Final = {
    "OWN": "its own",
    "RECORDS": "its generations",
    "BROKER_LOG": "its join phases",
    "FLEET": "all groups",
    "FEW": "too few of its own",
    "TRANSFERRED": "the other protocol",
    "ASSUMED": "assumed",
}
"""Where the times come from that a wave is priced by."""

DURING: Final = {
    "EMPTY": "empty",
    "STEADY": "steady",
    "ASSIGNING": "without a target",
    "TARGET_UNTOLD": "target not told yet",
    "REVOKING": "letting go",
    "PARTLY_THERE": "partly at its target",
    "PREPARING": "joining",
    "COMPLETING": "syncing",
    "SYNCED": "just synced",
    "UNKNOWN": "unknown",
}
"""What a group was doing when its coordinator moved."""

ABSENCE: Final = {
    "ABSORBED": "absorbed",
    "EXPIRED": "expired",
    "EXPIRED_RETURNED": "expired, came back",
    "LEFT": "left",
    "LEFT_RETURNED": "left, came back",
    "RETURNED": "came back",
    "AWAY": "away now",
    "UNOBSERVED": "not seen",
}
"""How an absence ended."""

SEVERITY: Final = {
    "BLOCK": "block",
    "BLOCK_ONLINE": "block online",
    "FIX": "fix",
    "CHECK": "check",
    "INFO": "info",
    "NA": "not applicable",
}
"""How much a rule of readiness that fired stands in the way."""

VERDICT: Final = {
    "READY": "ready",
    "READY_OFFLINE": "ready, but offline",
    "WARN": "ready, with warnings",
    "BLOCKED": "blocked",
    "NOT_APPLICABLE": "cannot take part",
    "UNKNOWN": "not seen long enough",
}

TIER: Final = {
    1: "proven: its cohort runs on consumer already",
    2: "canary: the first of its cohort",
    0: "nothing to roll",
    3: "waits for the canary of its cohort",
}
"""`readiness.flip_tier`, in the order in which one flips."""

TIER_OF_SEVERAL: Final = {
    1: "proven: their cohorts run on consumer already",
    2: "canaries: the first of their cohorts",
    0: "nothing to roll",
    3: "wait for the canaries of their cohorts",
}
"""The same of several groups."""

OUTCOME: Final = {
    "CONVERGED": "settled",
    "SUPERSEDED": "superseded",
    "GROUP_REMOVED": "group removed",
    "UNOBSERVED": "not seen",
    "OPEN": "open",
    "ACKED": "let go",
    "FENCED": "fenced",
    "LEFT": "left",
    "LEFT_OR_FENCED": "left or fenced",
    "CANCELLED": "cancelled",
    "REPLACED": "replaced",
    "TRANSFERRED": "handed over",
    "RETURNED": "bounced back",
    "ELSEWHERE": "went elsewhere",
    "OWNER_GONE": "owner gone",
    "TASK_REMOVED": "task removed",
}

MOVE: Final = {
    "WARMED": "warm",
    "DORMANT": "from state on its disk",
    "COLD": "cold",
    "IN_PROCESS": "within the process",
}
"""How a task came to a process."""
