"""The tables of one night -> what a person reads in a minute at the end of a run.

`summary_frames` are small DataFrames to collect, in a few threads if that is worth it (their limits
are part of them: nothing but top rows is ever collected); `summary_lines` turns the rows into text
of at most WIDTH columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as sf

from groupreplay.config.model import TEXT_KINDS
from groupreplay.report.tables.coverage import NO_SOURCE

WIDTH: Final = 120
"""Longest line, in characters."""

SUMMARY_TABLES: Final = (
    *("migration_progress", "revocation_latencies", "stuck_members", "stuck_groups"),
    *("coverage", "undecoded", "anomalies"),
)
"""What `summary_frames` reads."""

_BLOCKERS_NAMED: Final = 3
_TIME_FORMAT: Final = "yyyy-MM-dd HH:mm:ss"

Section = list[dict[str, Any]]


# ---------------------------------------------------------------- tables -> top rows


def summary_frames(
    tables: Mapping[str, DataFrame], logical_date: date, top: int
) -> dict[str, DataFrame]:
    """Section -> what to collect for it.

    tables: SUMMARY_TABLES of one cluster.
    top: rows of each list.
    """
    night = {
        name: tables[name].where(sf.col("logical_date") == sf.lit(logical_date))
        for name in SUMMARY_TABLES
    }
    progress, hand_overs = night["migration_progress"], night["revocation_latencies"]
    return {
        "fleet": _fleet(progress),
        "half_way": _half_way(progress, top),
        "classic_clients": _classic_clients(progress, top),
        "hand_overs": _hand_overs(hand_overs),
        "slowest": _slowest(hand_overs, top),
        "stuck_reasons": _stuck_reasons(_stuck(night)),
        "stuck": (
            _stuck(night)
            .orderBy(sf.desc("is_open"), sf.desc("stuck_ms"), "group_id", "member_id", "reason")
            .limit(top)
        ),
        "coverage": _coverage(night["coverage"]),
        "undecoded": _counted(night["undecoded"], ["reason"], top),
        "anomalies": _counted(night["anomalies"], ["severity", "rule"], top),
    }


def section(rows: Iterable[Row]) -> Section:
    """What was collected of one frame; a NULL is a key that is not there."""
    return [
        {name: value for name, value in row.asDict(recursive=True).items() if value is not None}
        for row in rows
    ]


def _fleet(progress: DataFrame) -> DataFrame:
    return progress.groupBy("phase").agg(
        sf.count(sf.lit(1)).alias("groups"),
        sf.sum("members_total").alias("members"),
        sf.sum("members_consumer").alias("members_consumer"),
        sf.count_if("is_stalled").alias("stalled"),
        sf.count_if(~sf.col("history_complete")).alias("incomplete"),
    )


def _half_way(progress: DataFrame, top: int) -> DataFrame:
    """Groups with members of both protocols, the longest first."""
    mixed_ms = sf.unix_millis("as_of_at") - sf.unix_millis("mixed_since_at")
    first = sf.transform(
        sf.slice("blockers", 1, _BLOCKERS_NAMED),
        lambda each: sf.concat_ws(" ", each["client_id"], each["client_host"]),
    )
    groups = (
        progress.where(sf.col("phase") == "MIGRATING")
        .orderBy(sf.asc_nulls_last("mixed_since_at"), "group_id")
        .limit(top)
    )
    return groups.select(
        "group_id",
        "team",
        "progress_pct",
        mixed_ms.alias("mixed_ms"),
        first.alias("blockers"),
        sf.size("blockers").alias("blockers_count"),
    )


def _classic_clients(progress: DataFrame, top: int) -> DataFrame:
    """Client ids of classic members, those in the most groups first; `blockers` is empty where a
    group cannot take part.
    """
    clients = progress.select(
        "group_id",
        sf.explode(
            sf.array_distinct(sf.transform("blockers", lambda each: each["client_id"]))
        ).alias("client_id"),
    )
    counted = clients.groupBy("client_id").agg(
        sf.count(sf.lit(1)).alias("groups"), sf.min("group_id").alias("example")
    )
    return counted.orderBy(sf.desc("groups"), "client_id").limit(top)


def _hand_overs(hand_overs: DataFrame) -> DataFrame:
    acked_ms = sf.when(sf.col("outcome") == "ACKED", sf.col("revoke_ms"))
    return hand_overs.groupBy("outcome").agg(
        sf.count(sf.lit(1)).alias("partitions"),
        sf.percentile_approx(acked_ms, sf.array(sf.lit(0.5), sf.lit(0.99)), sf.lit(1000)).alias(
            "revoke_ms"
        ),
    )


def _slowest(hand_overs: DataFrame, top: int) -> DataFrame:
    """One row a request: partitions asked back together and given back together.

    Only requests of the slowest partitions are looked at: two scans, and no shuffle of the table.
    """
    request = ["group_id", "member_id", "requested_at", "outcome"]
    timed = hand_overs.where(sf.col("revoke_ms").isNotNull())
    partitions = (
        timed.select(*request, "revoke_ms")
        .orderBy(sf.desc("revoke_ms"), *request)
        .limit(_SLOWEST_PARTITIONS)
    )
    slow = (
        partitions.groupBy(*request)
        .agg(sf.max("revoke_ms").alias("revoke_ms"))
        .orderBy(sf.desc("revoke_ms"), *request)
        .limit(top)
    )
    requests = timed.join(sf.broadcast(slow.select(*request)), request, "left_semi").groupBy(
        *request
    )
    slowest = requests.agg(
        sf.count(sf.lit(1)).alias("partitions"),
        sf.min("topic").alias("topic"),
        sf.max("revoke_ms").alias("revoke_ms"),
        sf.max("unowned_ms").alias("unowned_ms"),
        sf.max("client_id").alias("client_id"),
        sf.max("client_host").alias("client_host"),
        sf.max("team").alias("team"),
    )
    return slowest.drop("requested_at")


_SLOWEST_PARTITIONS: Final = 2_000
"""If one request has more partitions than this, the list of the slowest is shorter than it could
be.
"""


def _stuck(night: Mapping[str, DataFrame]) -> DataFrame:
    columns = (
        "group_id",
        "team",
        "member_id",
        "client_id",
        "client_host",
        "reason",
        "stuck_ms",
        "is_open",
        "blocked_by",
        "repetitions",
    )
    since = sf.date_format("since_at", _TIME_FORMAT).alias("since")
    members = night["stuck_members"].select(*columns, since)
    groups = night["stuck_groups"].select(
        *[column for column in columns if column in night["stuck_groups"].columns], since
    )
    return members.unionByName(groups, allowMissingColumns=True)


def _stuck_reasons(stuck: DataFrame) -> DataFrame:
    return stuck.groupBy("reason").agg(
        sf.count_if("is_open").alias("open"), sf.count_if(~sf.col("is_open")).alias("ended")
    )


_COUNTS: Final = (
    "landed",
    "decoded",
    "unknown",
    "undecoded",
    "reduced",
    "aborted",
    "open_commits",
    "duplicates",
    "holes",
    "late",
    "left_out",
)


def _coverage(coverage: DataFrame) -> DataFrame:
    """Logs of the offsets topic, in records, and beside them logs of brokers, in lines; and what no
    source could show.
    """
    is_text, is_none = sf.col("source").isin(*TEXT_KINDS), sf.col("source") == NO_SOURCE
    of_text = {
        "texts": sf.count_if(is_text),
        "lines": sf.sum(sf.when(is_text, sf.col("landed"))),
        "others": sf.sum(sf.when(is_text, sf.col("unknown"))),
    }
    return coverage.agg(
        sf.count_if(~is_text & ~is_none).alias("inputs"),
        sf.count_if(is_none).alias("unseen"),
        sf.count_if(sf.col("holes") > 0).alias("inputs_with_holes"),
        *[sf.sum(sf.when(~is_text, sf.col(name))).alias(name) for name in _COUNTS],
        *[column.alias(name) for name, column in of_text.items()],
    )


def _counted(frame: DataFrame, by: list[str], top: int) -> DataFrame:
    rank: list[Column] = (
        [sf.array_position(sf.array(*map(sf.lit, _SEVERITIES)), sf.col("severity"))]
        if "severity" in by
        else []
    )
    return (
        frame.groupBy(*by)
        .agg(sf.count(sf.lit(1)).alias("rows"))
        .orderBy(*rank, sf.desc("rows"), *by)
        .limit(top)
    )


_SEVERITIES: Final = ("ERROR", "WARN", "INFO")


# ---------------------------------------------------------------- top rows -> lines


def summary_lines(
    found: Mapping[str, Section], *, cluster: str, logical_date: date, as_of_ms: int | None
) -> list[str]:
    """as_of_ms: ms since the epoch, UTC; None where nothing was ever read."""
    as_of = (
        "nothing read yet"
        if as_of_ms is None
        else f"as of {_EPOCH + timedelta(milliseconds=as_of_ms):%Y-%m-%d %H:%M:%S} UTC"
    )
    blocks = (
        _migration_lines(found),
        _hand_over_lines(found),
        _stuck_lines(found),
        _unseen_lines(found),
    )
    lines = [f"groupreplay, cluster {cluster}, night {logical_date}, {as_of}"]
    for block in blocks:
        lines += ["", *block]
    return [line if len(line) <= WIDTH else line[: WIDTH - 3] + "..." for line in lines]


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _migration_lines(found: Mapping[str, Section]) -> list[str]:
    by_phase = {row["phase"]: row for row in found.get("fleet", ())}
    left_out = by_phase.pop("NOT_APPLICABLE", {"groups": 0})["groups"]
    groups = _total(by_phase.values(), "groups")
    title = f"MIGRATION to the consumer protocol: {_count(groups, 'group')}"
    if left_out:
        title += f"; {left_out:,} more cannot take part (share, streams, simple, Connect), left out"
    lines = [title]
    for label, phases in _PHASES:
        rows = {phase: by_phase.pop(phase) for phase in phases if phase in by_phase}
        if rows:
            told = [
                f"{row['groups']:,} {_PHASE_WORDS[phase]}"
                for phase, row in rows.items()
                if phase in _PHASE_WORDS
            ]
            stalled = _total(rows.values(), "stalled")
            told += [f"{stalled:,} mixed for too long"] if stalled else []
            lines.append(
                f"  {label:<18}{_total(rows.values(), 'groups'):>9,}   {', '.join(told)}".rstrip()
            )
    lines += [f"  {phase:<18}{row['groups']:>9,}" for phase, row in sorted(by_phase.items())]
    lines += _member_lines(found)
    for row in found.get("half_way", ()):
        lines += _half_way_lines(row)
    clients = sorted(
        found.get("classic_clients", ()), key=lambda row: (-row["groups"], row.get("client_id", ""))
    )
    if clients:
        lines.append(
            "  clients that still speak the classic protocol: "
            + _named((_client(row), row["groups"], "group") for row in clients)
        )
    return lines


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


def _member_lines(found: Mapping[str, Section]) -> list[str]:
    fleet = [row for row in found.get("fleet", ()) if row["phase"] != "NOT_APPLICABLE"]
    members, speaking = _total(fleet, "members"), _total(fleet, "members_consumer")
    return (
        [
            f"  {'members':<18}{members:>9,}   {speaking:,} of them speak the consumer protocol"
            f" ({100 * speaking / members:.1f} %)"
        ]
        if members
        else []
    )


def _half_way_lines(row: Mapping[str, Any]) -> list[str]:
    mixed = f", mixed for {_lasted(row['mixed_ms'])}" if "mixed_ms" in row else ""
    more = row["blockers_count"] - len(row["blockers"])
    blockers = ", ".join(_printable(each, 45) for each in row["blockers"]) + (
        f" and {more:,} more" if more > 0 else ""
    )
    return [
        f"  {_printable(row['group_id'], 40)}{_team(row)}: {row.get('progress_pct', 0):.0f} %"
        f" done{mixed}, waits for {blockers or 'nobody known'}"
    ]


def _hand_over_lines(found: Mapping[str, Section]) -> list[str]:
    by_outcome = {row["outcome"]: row for row in found.get("hand_overs", ())}
    partitions = _total(by_outcome.values(), "partitions")
    lines = [f"HAND-OVERS: {_count(partitions, 'partition')} asked back from a member"]
    if not partitions:
        return lines
    median, slow = by_outcome.get("ACKED", {}).get("revoke_ms", (None, None))
    told = []
    for outcome, words in _OUTCOME_WORDS.items():
        if row := by_outcome.pop(outcome, None):
            times = (
                f" (half within {_lasted(median)}, 99 % within {_lasted(slow)})"
                if outcome == "ACKED" and median is not None
                else ""
            )
            told.append(f"{row['partitions']:,} {words}{times}")
    told += [f"{row['partitions']:,} {outcome}" for outcome, row in sorted(by_outcome.items())]
    lines += _wrapped("  ", told)
    slowest = sorted(found.get("slowest", ()), key=lambda row: -row["revoke_ms"])
    if slowest:
        lines.append("  slowest to let go, with the member to be charged:")
    for row in slowest:
        what = (
            _printable(row["topic"], 24)
            if row["partitions"] == 1
            else f"{row['partitions']:,} partitions"
        )
        unowned = f", then unowned {_lasted(row['unowned_ms'])}" if "unowned_ms" in row else ""
        who = f"{_printable(row['group_id'], 28)}{_team(row)}: {_member(row, 44)}"
        lines.append(
            f"  {_lasted(row['revoke_ms']):>12}  {who}, {what},"
            f" {_OUTCOME_WORDS.get(row['outcome'], row['outcome'])}{unowned}"
        )
    return lines


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


def _stuck_lines(found: Mapping[str, Section]) -> list[str]:
    reasons = sorted(
        found.get("stuck_reasons", ()), key=lambda row: (-row["open"], -row["ended"], row["reason"])
    )
    lines = [f"STUCK: {_total(reasons, 'open'):,} now, {_total(reasons, 'ended'):,} that ended"]
    lines += _wrapped(
        "  ",
        [f"{row['reason']} {row['open']:,} now, {row['ended']:,} ended" for row in reasons],
        "; ",
    )
    for row in sorted(
        found.get("stuck", ()), key=lambda row: (not row["is_open"], -row["stuck_ms"])
    ):
        who = _member(row, 44) if "member_id" in row else "the whole group"
        how = f" {row['repetitions']:,} times" if "repetitions" in row else ""
        others = [each for each in row.get("blocked_by", ()) if each != row.get("member_id")]
        on = (
            f", held by {_printable(others[0], 30)}"
            + (f" and {len(others) - 1:,} more" if len(others) > 1 else "")
            if others
            else ""
        )
        when, since = ("now", f", since {row['since']}") if row["is_open"] else ("ended", "")
        lines.append(
            f"  {when:<6}{_lasted(row['stuck_ms']):>12}  {row['reason']}{how},"
            f" {_printable(row['group_id'], 28)}{_team(row)}: {who}{on}{since}"
        )
    return lines


def _unseen_lines(found: Mapping[str, Section]) -> list[str]:
    cover = next(iter(found.get("coverage", ())), {"inputs": 0})
    lines = [
        f"SEEN: {_count(cover['inputs'], 'input')}, {_count(cover.get('decoded', 0), 'record')}"
        " replayed"
    ]
    if cover.get("reduced"):
        lines[0] += f", {_count(cover['reduced'], 'commit')} left out that no measure needs"
    told = [
        (
            cover.get("holes", 0),
            (
                "offsets gone by compaction or loss, in"
                f" {_count(cover.get('inputs_with_holes', 0), 'input')}"
            ),
        ),
        (cover.get("open_commits", 0), "commits of transactions that have not ended yet"),
        (cover.get("aborted", 0), "records of aborted transactions, which never count"),
        (cover.get("duplicates", 0), "records met again in replicas or copies, counted once"),
        (
            cover.get("late", 0),
            (
                "records came after the night that they belong to: kept, and replayed by"
                " rebuild_nights"
            ),
        ),
        (cover.get("unknown", 0), "records of types that are not known"),
        (cover.get("left_out", 0), "records of groups that the configuration leaves out"),
    ]
    lines += [f"  {number:>11,}  {words}" for number, words in told if number]
    undecoded = sorted(found.get("undecoded", ()), key=lambda row: -row["rows"])
    if undecoded:
        lines.append(
            "  not decoded, see table undecoded: "
            + _named((_printable(row["reason"], 60), row["rows"], "row") for row in undecoded)
        )
    incomplete, groups = (
        _total(found.get("fleet", ()), "incomplete"),
        _total(found.get("fleet", ()), "groups"),
    )
    if incomplete:
        lines.append(
            f"  {incomplete:>11,}  of {_count(groups, 'group')} began before the log does, or lie"
            " in its holes: their history is not complete"
        )
    lines += [
        f"  {row['severity']:<6} rule {row['rule']} broken: {_count(row['rows'], 'time')}, see"
        " table anomalies"
        for row in found.get("anomalies", ())
    ]
    if len(lines) == 1:
        lines.append("  nothing is missing, and no rule was broken")
    if cover.get("unseen"):
        lines.append(
            f"  {_count(cover['unseen'], 'kind')} of being stuck cannot be seen without logs of"
            " brokers, see table coverage"
        )
    if cover.get("texts"):
        read = (
            f"lines in {_count(cover['texts'], 'log')} of brokers, {cover.get('others', 0):,} of"
            " them of other loggers or APIs"
        )
        lines.insert(1, f"  {cover.get('lines', 0):>11,}  {read}")
    return lines


# ---------------------------------------------------------------- words


def _total(rows: Iterable[Mapping[str, Any]], name: str) -> int:
    return sum(row.get(name, 0) for row in rows)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _named(counted: Iterable[tuple[str, int, str]]) -> str:
    return ", ".join(f"{name} ({_count(number, noun)})" for name, number, noun in counted)


def _wrapped(indent: str, parts: Sequence[str], separator: str = ", ") -> list[str]:
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(separator) + len(part) <= WIDTH:
            lines[-1] += separator + part
        else:
            lines.append(indent + part)
    return lines


def _printable(text: str, width: int) -> str:
    """Names come from records and may hold anything: one line, at most `width` characters, "" shown
    as such.
    """
    shown = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text) or '""'
    return shown if len(shown) <= width else shown[: width - 2] + ".."


def _client(row: Mapping[str, Any]) -> str:
    return _printable(row.get("client_id", ""), 40)


def _team(row: Mapping[str, Any]) -> str:
    """Who answers for the group, if the owners file says."""
    return f" ({_printable(row['team'], 20)})" if "team" in row else ""


def _member(row: Mapping[str, Any], width: int) -> str:
    """A member as its owner knows it: client id and host, else the member id."""
    known = [row[name] for name in ("client_id", "client_host") if row.get(name)]
    return _printable(" ".join(known) if known else row["member_id"], width)


def _lasted(ms: int | None) -> str:
    """Two units at most."""
    if ms is None:
        return "?"
    if ms < 60_000:
        return f"{ms} ms" if ms < 1000 else f"{ms / 1000:.1f} s"
    seconds = ms // 1000
    for size, name, smaller, smaller_name in (
        (86_400, "d", 3600, "h"),
        (3600, "h", 60, "min"),
        (60, "min", 1, "s"),
    ):
        if seconds >= size:
            return f"{seconds // size:,} {name} {seconds % size // smaller} {smaller_name}"
    raise AssertionError(ms)
