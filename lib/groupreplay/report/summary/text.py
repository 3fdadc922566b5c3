"""`NightSummary` -> the lines that a person reads in a minute at the end of a run. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from groupreplay.report.summary.decisions_text import decision_lines
from groupreplay.report.summary.model import (
    Coverage,
    HalfWayGroup,
    HandOvers,
    Migration,
    NightSummary,
    PhaseGroups,
    Seen,
    SlowRequest,
    Stuck,
    StuckEpisode,
)
from groupreplay.report.summary.streams_text import streams_lines
from groupreplay.report.summary.words import (
    WIDTH,
    count,
    lasted,
    named,
    printable,
    team,
    time,
    wrapped,
)


def summary_lines(summary: NightSummary) -> list[str]:
    as_of = (
        "nothing read yet" if summary.as_of_ms is None else f"as of {time(summary.as_of_ms)} UTC"
    )
    blocks = (
        _migration_lines(summary.migration),
        _hand_over_lines(summary.hand_overs),
        _stuck_lines(summary.stuck),
        streams_lines(summary.streams, summary.as_of_ms),
        decision_lines(summary.decisions),
        _seen_lines(summary.seen, summary.migration),
    )
    lines = [f"groupreplay, cluster {summary.cluster}, night {summary.logical_date}, {as_of}"]
    for block in filter(None, blocks):
        lines += ["", *block]
    lines = [line if len(line) <= WIDTH else line[: WIDTH - 3] + "..." for line in lines]
    # An address that is cut leads nowhere.
    return [*lines, "", f"PAGE: {summary.page}"] if summary.page else lines


# ---------------------------------------------------------------- migration


def _migration_lines(migration: Migration) -> list[str]:
    groups = sum(each.groups for each in migration.taking_part)
    title = f"MIGRATION to the consumer protocol: {count(groups, 'group')}"
    if migration.left_out:
        title += (
            f"; {migration.left_out:,} more cannot take part (share, streams, simple, Connect),"
            " left out"
        )
    return [
        title,
        *_phase_lines(migration.taking_part),
        *_member_lines(migration.taking_part),
        *map(_half_way_line, migration.half_way),
        *_classic_client_lines(migration),
    ]


def _phase_lines(phases: Sequence[PhaseGroups]) -> list[str]:
    by_name = {each.phase: each for each in phases}
    lines = []
    for label, names in _PHASES:
        of_label = [by_name.pop(name) for name in names if name in by_name]
        if not of_label:
            continue
        words = [
            f"{each.groups:,} {_PHASE_WORDS[each.phase]}"
            for each in of_label
            if each.phase in _PHASE_WORDS
        ]
        stalled = sum(each.stalled for each in of_label)
        words += [f"{stalled:,} mixed for too long"] if stalled else []
        groups = sum(each.groups for each in of_label)
        lines.append(f"  {label:<18}{groups:>9,}   {', '.join(words)}".rstrip())
    return lines + [f"  {name:<18}{by_name[name].groups:>9,}" for name in sorted(by_name)]


_PHASES: Final = (
    ("consumer protocol", ("NATIVE", "MIGRATED", "CONSUMER")),
    ("half-way", ("MIGRATING",)),
    ("classic protocol", ("CLASSIC", "ROLLED_BACK")),
    ("no members", ("EMPTY",)),
)
_PHASE_WORDS: Final = {
    "NATIVE": "from birth",
    "MIGRATED": "migrated",
    "CONSUMER": "since before the log begins",
    "ROLLED_BACK": "rolled back",
}


def _member_lines(phases: Sequence[PhaseGroups]) -> list[str]:
    members = sum(each.members for each in phases)
    speaking = sum(each.members_consumer for each in phases)
    if not members:
        return []
    return [
        f"  {'members':<18}{members:>9,}   {speaking:,} of them speak the consumer protocol"
        f" ({100 * speaking / members:.1f} %)"
    ]


def _half_way_line(group: HalfWayGroup) -> str:
    mixed = "" if group.mixed_ms is None else f", mixed for {lasted(group.mixed_ms)}"
    more = group.blockers_total - len(group.blockers)
    names = [
        " ".join(name for name in (each.client_id, each.client_host) if name is not None)
        for each in group.blockers
    ]
    blockers = ", ".join(printable(name, 45) for name in names)
    if more > 0:
        blockers += f" and {more:,} more"
    return (
        f"  {printable(group.group_id, 40)}{team(group.team)}: {group.progress_pct or 0:.0f} %"
        f" done{mixed}, waits for {blockers or 'nobody known'}"
    )


def _classic_client_lines(migration: Migration) -> list[str]:
    clients = named(
        (printable(each.client_id or "", 40), each.groups, "group")
        for each in migration.classic_clients
    )
    return [f"  clients that still speak the classic protocol: {clients}"] if clients else []


# ---------------------------------------------------------------- hand-overs


def _hand_over_lines(hand_overs: HandOvers) -> list[str]:
    partitions = sum(each.partitions for each in hand_overs.outcomes)
    lines = [f"HAND-OVERS: {count(partitions, 'partition')} asked back from a member"]
    if not partitions:
        return lines
    lines += wrapped("  ", _outcome_words(hand_overs))
    if hand_overs.slowest:
        lines.append("  slowest to let go, with the member to be charged:")
    return lines + [_slow_line(each) for each in hand_overs.slowest]


def _outcome_words(hand_overs: HandOvers) -> list[str]:
    by_name = {each.outcome: each.partitions for each in hand_overs.outcomes}
    half, slow = hand_overs.acked_half_ms, hand_overs.acked_99_pct_ms
    known = [name for name in _OUTCOME_WORDS if name in by_name]
    words = []
    for name in (*known, *sorted(by_name.keys() - set(known))):
        times = ""
        if name == "ACKED" and half is not None:
            times = f" (half within {lasted(half)}, 99 % within {lasted(slow)})"
        words.append(f"{by_name[name]:,} {_OUTCOME_WORDS.get(name, name)}{times}")
    return words


_OUTCOME_WORDS: Final = {
    "ACKED": "given back",
    "OPEN": "still open",
    "FENCED": "fenced",
    "LEFT": "left",
    "LEFT_OR_FENCED": "left or fenced",
    "REPLACED": "replaced",
    "CANCELLED": "cancelled",
    "UNOBSERVED": "end not seen",
}


def _slow_line(request: SlowRequest) -> str:
    what = (
        printable(request.topic, 24)
        if request.partitions == 1
        else f"{request.partitions:,} partitions"
    )
    unowned = "" if request.unowned_ms is None else f", then unowned {lasted(request.unowned_ms)}"
    return (
        f"  {lasted(request.revoke_ms):>12}  {printable(request.group_id, 28)}"
        f"{team(request.team)}: {_member(request)}, {what},"
        f" {_OUTCOME_WORDS.get(request.outcome, request.outcome)}{unowned}"
    )


# ---------------------------------------------------------------- stuck


def _stuck_lines(stuck: Stuck) -> list[str]:
    now = sum(each.open for each in stuck.reasons)
    ended = sum(each.ended for each in stuck.reasons)
    by_reason = [f"{each.reason} {each.open:,} now, {each.ended:,} ended" for each in stuck.reasons]
    return [
        f"STUCK: {now:,} now, {ended:,} that ended",
        *wrapped("  ", by_reason, "; "),
        *map(_episode_line, stuck.episodes),
    ]


def _episode_line(episode: StuckEpisode) -> str:
    who = "the whole group" if episode.member_id is None else _member(episode)
    times = "" if episode.repetitions is None else f" {episode.repetitions:,} times"
    others = [each for each in episode.blocked_by if each != episode.member_id]
    held = f", held by {printable(others[0], 30)}" if others else ""
    if len(others) > 1:
        held += f" and {len(others) - 1:,} more"
    when, since = (
        ("now", f", since {time(episode.since_at_ms)}") if episode.is_open else ("ended", "")
    )
    return (
        f"  {when:<6}{lasted(episode.stuck_ms):>12}  {episode.reason}{times},"
        f" {printable(episode.group_id, 28)}{team(episode.team)}: {who}{held}{since}"
    )


# ---------------------------------------------------------------- seen


def _seen_lines(seen: Seen, migration: Migration) -> list[str]:
    missing = [
        *_coverage_lines(seen.coverage),
        *_undecoded_lines(seen),
        *_incomplete_lines(migration),
        *_rule_lines(seen),
    ]
    return [
        _seen_title(seen.coverage),
        *_broker_log_lines(seen),
        *(missing or ["  nothing is missing, and no rule was broken"]),
        *_unseen_lines(seen),
    ]


def _seen_title(coverage: Coverage) -> str:
    title = f"SEEN: {count(coverage.inputs, 'input')}, {count(coverage.decoded, 'record')} replayed"
    if coverage.reduced:
        title += f", {count(coverage.reduced, 'commit')} left out that no measure needs"
    return title


def _broker_log_lines(seen: Seen) -> list[str]:
    logs = seen.broker_logs
    if not logs.inputs:
        return []
    return [
        f"  {logs.lines:>11,}  lines in {count(logs.inputs, 'log')} of brokers,"
        f" {logs.others:,} of them of other loggers or APIs"
    ]


def _coverage_lines(coverage: Coverage) -> list[str]:
    counts = (
        (
            coverage.holes,
            f"offsets gone by compaction or loss, in {count(coverage.inputs_with_holes, 'input')}",
        ),
        (coverage.open_commits, "commits of transactions that have not ended yet"),
        (coverage.aborted, "records of aborted transactions, which never count"),
        (coverage.duplicates, "records met again in replicas or copies, counted once"),
        (
            coverage.late,
            "records came after the night that they belong to: kept, and replayed by"
            " rebuild_nights",
        ),
        (coverage.unknown, "records of types that are not known"),
        (coverage.left_out, "records of groups that the configuration leaves out"),
    )
    return [f"  {number:>11,}  {words}" for number, words in counts if number]


def _undecoded_lines(seen: Seen) -> list[str]:
    reasons = named((printable(each.reason, 60), each.rows, "row") for each in seen.undecoded)
    return [f"  not decoded, see table undecoded: {reasons}"] if reasons else []


def _incomplete_lines(migration: Migration) -> list[str]:
    incomplete = sum(each.incomplete for each in migration.phases)
    groups = sum(each.groups for each in migration.phases)
    if not incomplete:
        return []
    return [
        f"  {incomplete:>11,}  of {count(groups, 'group')} began before the log does, or lie"
        " in its holes: their history is not complete"
    ]


def _rule_lines(seen: Seen) -> list[str]:
    return [
        f"  {each.severity:<6} rule {each.rule} broken: {count(each.times, 'time')}, see"
        " table anomalies"
        for each in seen.broken_rules
    ]


def _unseen_lines(seen: Seen) -> list[str]:
    if not seen.unseen_reasons:
        return []
    return [
        f"  {count(seen.unseen_reasons, 'reason')} of being stuck cannot be seen without logs of"
        " brokers: see table coverage"
    ]


def _member(charged: SlowRequest | StuckEpisode) -> str:
    """A member as its owner knows it: client id and host, else the member id."""
    known = [name for name in (charged.client_id, charged.client_host) if name]
    return printable(" ".join(known) if known else charged.member_id or "", 44)
