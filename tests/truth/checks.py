"""The replay of a recording against what truly happened: every check gives its problems, as
sentences; none where all is well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from groupreplay.replay.facts import GroupSnapshot, HandOver, HeldPartition
from tests.truth.tables import Stuck, Tables
from tests.truth.truth import Asked, Partition, Sample, Truth

NOISE_MS = 350
"""Between the broker's debug line and its record."""
BEAT_MS = 2_500
"""One heartbeat of the recordings, and the client's own pace."""
DEFAULT_BEAT_MS = 5_200
"""The same where the recording left the heartbeat at its default."""
SAYS_PENDING = (4, 3)
"""From this version on a describe answer counts partitions that are being revoked as assigned."""

Assigned = dict[str, frozenset[Partition]]


# ---------------------------------------------------------------- the broker's own answers


def assignments(truth: Truth, tables: Tables) -> list[str]:
    """Who held what, at every moment at which the broker was asked."""
    problems = []
    deleted = [
        (event["topic"], event["at"])
        for event in truth.timeline
        if event["action"] == "topic_deleted"
    ]
    for group, at, sample in _probes(truth):
        wanted = {
            m["member_id"]: held
            for m in sample["members"]
            if (held := frozenset(map(_partition, m["assigned"])))
        }
        got = _held_at(tables, tables.spans(group), at)
        if truth.kafka < SAYS_PENDING and (got != wanted or not truth.was_upgraded):
            got = _without(got, _pending_at(tables, group, at))
        gone = {
            topic for topic, when in deleted if at > when
        }  # the broker can no longer name what it still counts
        got, wanted = _without_topics(got, gone), _without_topics(wanted, gone)
        if got != wanted:
            problems.append(
                f"{group} at {at}: {_shown(truth, got)}, the broker said {_shown(truth, wanted)}"
            )
    return problems


def epochs_and_protocols(truth: Truth, tables: Tables) -> list[str]:
    problems = []
    for group, at, sample in _probes(truth):
        begun = [epoch for epoch in tables.epochs(group) if epoch.started_at <= at]
        last = begun[-1] if begun else None
        if last is None or last.protocol != sample["type"].lower():
            problems.append(f"{group} at {at}: {last}, the broker said {sample['type']}")
        elif sample["type"] == "Consumer" and sample["group_epoch"] not in (None, last.epoch):
            problems.append(
                f"{group} at {at}: epoch {last.epoch}, the broker said {sample['group_epoch']}"
            )
    return problems


def _probes(truth: Truth) -> Iterable[tuple[str, int, Sample]]:
    """Answers about groups that settled: classic ones say nothing of use during a rebalance. Of a
    compacted log only the end is owed.
    """
    probes = list(truth.probes())
    last = {group: at for group, at, _ in probes}
    for group, at, sample in probes:
        is_settled = sample.get("type") == "Consumer" or (
            sample.get("type") == "Classic" and sample["state"] == "Stable"
        )
        if is_settled and "members" in sample and (not truth.is_compacted or at == last[group]):
            yield group, at, sample


def _partition(text: str) -> Partition:
    topic, _, number = text.rpartition("-")
    return topic, int(number)


def _held_at(tables: Tables, spans: list[HeldPartition], at: int) -> Assigned:
    held: dict[str, set[Partition]] = {}
    for span in spans:
        if span.assigned_at <= at and (span.released_at is None or span.released_at > at):
            held.setdefault(span.member_id, set()).add(tables.partition(span))
    return {member: frozenset(partitions) for member, partitions in held.items()}


def _pending_at(tables: Tables, group: str, at: int) -> Assigned:
    pending: dict[str, set[Partition]] = {}
    for row in tables.hand_overs(group):
        if row.requested_at <= at and (row.ended_at is None or row.ended_at > at):
            pending.setdefault(row.member_id, set()).add(tables.partition(row))
    return {member: frozenset(partitions) for member, partitions in pending.items()}


def _without(held: Assigned, pending: Assigned) -> Assigned:
    return {
        member: left
        for member, partitions in held.items()
        if (left := partitions - pending.get(member, frozenset()))
    }


def _without_topics(held: Assigned, topics: set[str]) -> Assigned:
    return {
        member: left
        for member, partitions in held.items()
        if (left := frozenset(tp for tp in partitions if tp[0] not in topics))
    }


def _shown(truth: Truth, held: Assigned) -> dict[str, list[Partition]]:
    return {truth.client(member): sorted(partitions) for member, partitions in sorted(held.items())}


# ---------------------------------------------------------------- the coordinator's debug log


def hand_overs(truth: Truth, tables: Tables) -> list[str]:
    """Every partition that was asked back, how and when that ended; and no hand-over that never
    was.
    """
    problems = []
    asked = truth.asked_back()
    for one in asked:
        rows = [
            r
            for r in tables.hand_overs(one.group)
            if r.member_id == one.member and tables.partition(r) == one.partition
        ]
        near = [row for row in rows if abs(row.requested_at - one.requested) <= NOISE_MS]
        if not near:
            problems.append(f"missing: {one}")
        elif not _ends_as(near[0], one):
            problems.append(f"{one}, told as {near[0]}")
    real = {(one.group, one.member, one.partition) for one in asked}
    for group in {fact.group_id for fact in tables.facts}:
        for row in tables.hand_overs(group):
            is_telling = row.member_protocol == "consumer" and row.outcome in (
                "ACKED",
                "OPEN",
                "FENCED",
            )
            if is_telling and (group, row.member_id, tables.partition(row)) not in real:
                problems.append(f"never was: {row}")
    return problems


def _ends_as(row: HandOver, one: Asked) -> bool:
    match one.outcome:
        case "ACKED":
            if (
                row.outcome != "ACKED"
                or row.acked_at is None
                or row.revoke_ms is None
                or one.ended is None
            ):
                return False
            return (
                abs(row.acked_at - one.ended) <= NOISE_MS
                and abs(row.revoke_ms - (one.ended - one.requested)) <= 2 * NOISE_MS
            )
        case "CANCELLED":
            return row.outcome == "CANCELLED"
        case "ELSE":
            return row.outcome not in ("ACKED", "OPEN")
        case "OPEN":
            return row.outcome == "OPEN" and row.is_censored
    return row.outcome in ("FENCED", "LEFT", "LEFT_OR_FENCED")


# ---------------------------------------------------------------- what each story must show


class Story:
    """One story of one recording: `name`, or `name:suffix`, played in a group of its own; members'
    client ids are `<group>-<name>`.
    """

    def __init__(self, truth: Truth, tables: Tables, name: str) -> None:
        self.truth = truth
        self.tables = tables
        self.group = name.replace(":", "-").replace("_", "-")
        self.problems: list[str] = []

    def client(self, name: str) -> str:
        return f"{self.group}-{name}"

    def ok(self, what: str, is_so: bool, got: Any = "") -> None:
        if not is_so:
            self.problems.append(f"{self.group}: {what}: {got}")

    # ------------------------------------------------------------ what is asked of a group

    def progress(self, **wanted: Any) -> None:
        """Fields of its row in `migration_progress`; a tuple allows any of its elements. blockers:
        client ids.
        """
        row = self.tables.progress(self.group)
        if row is None:
            self.ok("has a row in migration_progress", False)
            return
        for name, value in wanted.items():
            if name == "blockers":
                got: Any = sorted(client or "" for client in row.blocker_client_ids)
            else:
                got = getattr(row, name)
            allowed = value if isinstance(value, tuple) else (value,)
            if not (
                self.truth.is_compacted and name in ("phase", "conversions")
            ):  # its history was cleaned away
                self.ok(f"{name} is {value}", got in allowed, got)

    def conversions(self, *wanted: tuple[str, str]) -> None:
        got = [(row.direction, row.mode) for row in self.tables.conversions(self.group)]
        self.ok(f"conversions are {wanted}", self.truth.is_compacted or got == list(wanted), got)

    def revokes(
        self,
        client: str,
        low_ms: int,
        high_ms: int,
        outcome: str = "ACKED",
        times: int | None = None,
    ) -> None:
        """The member's requests that took at least half of what was injected: all within the
        bounds.
        """
        rows = [
            r
            for r in self.tables.hand_overs(self.group)
            if self.truth.client(r.member_id) == client and r.outcome == outcome
        ]
        got = [self.tables.revoke_ms(row) for row in rows]
        slow = [ms for ms in got if ms is None or outcome != "ACKED" or ms >= low_ms / 2]
        is_so = (
            bool(slow)
            and all(ms is not None and low_ms <= ms <= high_ms for ms in slow)
            and times in (None, len(slow))
        )
        self.ok(
            f"{client} takes {low_ms} to {high_ms} ms, {outcome}, {times or 'some'} times",
            is_so,
            got,
        )

    def stuck(
        self, client: str, reason: str, is_open: bool | None = None, blocked_by: str | None = None
    ) -> None:
        def fits(row: Stuck) -> bool:
            blockers = [self.truth.client(member) for member in row.blocked_by]
            return (
                row.reason == reason
                and is_open in (None, row.is_open)
                and (blocked_by is None or blocked_by in blockers)
            )

        rows = [
            row
            for row in self.tables.stuck_members(self.group)
            if self.truth.client(row.member_id) == client
        ]
        self.ok(f"{client} is stuck, {reason}", any(map(fits, rows)), rows)

    def nobody_stuck(self) -> None:
        rows = self.tables.stuck_members(self.group)
        self.ok("nobody is stuck", not rows, rows)

    def released_by(self, client: str) -> list[HeldPartition]:
        spans = self.tables.spans(self.group)
        return [
            span
            for span in spans
            if self.truth.client(span.member_id) == client and span.released_at is not None
        ]

    def epochs_between(self, first: int, last: int) -> int:
        return sum(first <= epoch.started_at <= last for epoch in self.tables.epochs(self.group))


def scale_up(story: Story) -> None:
    story.progress(protocol="consumer", phase="NATIVE", members_total=2, members_consumer=2)
    story.nobody_stuck()
    if not story.truth.is_compacted:
        took = [
            epoch.converge_ms
            for epoch in story.tables.epochs(story.group)
            if epoch.outcome == "CONVERGED"
        ]
        story.ok(
            "epochs converge in 15 s",
            bool(took) and all(ms is not None and 0 <= ms <= 15_000 for ms in took),
            took,
        )


def slow_revoker(story: Story) -> None:
    story.revokes(story.client("slow"), 7_000, 7_000 + BEAT_MS, times=2)
    story.progress(protocol="consumer", phase="NATIVE")
    for row in story.tables.hand_overs(story.group):
        if row.outcome == "ACKED":
            granted = row.granted_to is not None and story.truth.client(
                row.granted_to
            ) == story.client("waiter")
            within = (
                row.grant_ms is not None
                and row.grant_ms <= BEAT_MS + 500
                and row.resume_ms is not None
                and row.resume_ms <= 8_000
            )
            story.ok(
                "granted to the waiter within a heartbeat, and consumed", granted and within, row
            )


def slow_chain(story: Story) -> None:
    story.revokes(story.client("a"), 4_000, 4_000 + BEAT_MS)
    story.revokes(story.client("b"), 11_000, 11_000 + BEAT_MS)


def stuck_revoker(story: Story) -> None:
    beat_ms = (
        BEAT_MS
        if any("heartbeat" in key for key in story.truth.meta["broker_config"])
        else DEFAULT_BEAT_MS
    )
    story.revokes(story.client("stuck"), 19_000, 20_000 + beat_ms, "FENCED")
    story.stuck(story.client("stuck"), "SLOW_REVOCATION", is_open=False)
    story.stuck(story.client("waiter"), "WAITING_ON_HOLDER", blocked_by=story.client("stuck"))


def stuck_open(story: Story) -> None:
    story.revokes(story.client("stuck"), 5_000, 10_000_000, "OPEN")
    story.stuck(story.client("stuck"), "SLOW_REVOCATION", is_open=True)
    story.stuck(
        story.client("waiter"), "WAITING_ON_HOLDER", is_open=True, blocked_by=story.client("stuck")
    )


def crash(story: Story) -> None:
    killed = story.truth.at(story.group, "kill", story.client("victim"))
    timeout_ms = (
        12_000
        if "group.consumer.session.timeout.ms" in story.truth.meta["broker_config"]
        else 45_000
    )
    ends = [
        (s.end_reason, s.released_at - killed)
        for s in story.released_by(story.client("victim"))
        if s.released_at and s.released_at > killed
    ]
    story.ok(
        "partitions are freed at the session timeout",
        bool(ends) and all(timeout_ms - 6_000 <= ms <= timeout_ms + BEAT_MS for _, ms in ends),
        ends,
    )
    story.ok(
        "by a fence, or a leave, for all the topic can tell",
        {reason for reason, _ in ends} == {"LEFT_OR_FENCED"},
        ends,
    )
    story.progress(members_total=2)


def static_bounce(story: Story) -> None:
    closed, back = (
        story.truth.at(story.group, "close", story.client("m0")),
        story.truth.at(story.group, "start", story.client("m0b")),
    )
    story.ok("a bounce starts no epoch", not story.epochs_between(closed, back + 3_000))
    story.progress(protocol="consumer", phase="NATIVE", members_total=2)
    story.stuck(story.client("m1"), "STATIC_LIMBO", is_open=False)
    stuck = {story.truth.client(row.member_id) for row in story.tables.stuck_members(story.group)}
    story.ok(
        "who came back in time is not stuck",
        not stuck & {story.client("m0"), story.client("m0b")},
        stuck,
    )
    left = [
        (span.next_member_id, span.unowned_ms) for span in story.released_by(story.client("m1"))
    ]
    story.ok(
        "what it left was taken over",
        bool(left) and all(who is not None and ms is not None and ms <= 11_000 for who, ms in left),
        left,
    )


def fence_loop(story: Story) -> None:
    story.stuck(story.client("loop"), "FENCE_LOOP")


def duplicate_instance(story: Story) -> None:
    story.progress(members_total=1)


def partitions_added(story: Story) -> None:
    at = story.truth.at(story.group, "partitions_added")
    causes = [epoch.cause for epoch in story.tables.epochs(story.group) if epoch.started_at >= at]
    story.ok("an epoch is caused by the topic's change", "TOPIC_METADATA" in causes, causes)


def upgrade(story: Story) -> None:
    migrated = {
        "protocol": "consumer",
        "phase": "MIGRATED",
        "members_total": 3,
        "members_consumer": 3,
        "members_classic": 0,
    }
    story.progress(**migrated, blockers=[], conversions=1)
    story.conversions(("UPGRADE", "ONLINE"))
    if not story.truth.is_compacted:
        triggers = [
            story.truth.client(row.trigger_member_id or "")
            for row in story.tables.conversions(story.group)
        ]
        story.ok(
            "the first upgraded member triggered it", triggers == [story.client("u0")], triggers
        )
        story.nobody_stuck()


def upgrade_slow(story: Story) -> None:
    story.revokes(story.client("c0"), 6_000, 6_000 + BEAT_MS)
    story.progress(phase="MIGRATING", members_classic=2, members_consumer=1)


def upgrade_crash(story: Story) -> None:
    story.conversions(("UPGRADE", "ONLINE"), ("DOWNGRADE", "ONLINE"))
    story.progress(protocol="classic", phase="ROLLED_BACK")


def rollback(story: Story) -> None:
    story.conversions(("UPGRADE", "ONLINE"), ("DOWNGRADE", "ONLINE"))
    story.progress(protocol="classic", phase="ROLLED_BACK", members_total=3, members_classic=3)


def offline_upgrade(story: Story) -> None:
    story.conversions(("UPGRADE", "OFFLINE"), ("DOWNGRADE", "OFFLINE"))
    story.progress(protocol="classic", phase="ROLLED_BACK", members_total=1)


def mixed_stall(story: Story) -> None:
    story.conversions(("UPGRADE", "ONLINE"))
    mixed = {
        "protocol": "consumer",
        "phase": "MIGRATING",
        "members_total": 3,
        "members_consumer": 2,
        "members_classic": 1,
    }
    story.progress(**mixed, blockers=[story.client("c2")])


def classic_forever(story: Story) -> None:
    classic = {
        "protocol": "classic",
        "phase": "CLASSIC",
        "members_total": 3,
        "members_classic": 3,
        "members_consumer": 0,
    }
    story.progress(
        **classic, conversions=0, blockers=[story.client(f"c{number}") for number in range(3)]
    )


def classic_static(story: Story) -> None:
    bounced = story.epochs_between(
        story.truth.at(story.group, "bounce"), story.truth.at(story.group, "bounced")
    )
    story.ok("a rolling bounce starts no generation", not bounced, bounced)
    story.progress(protocol="classic", members_total=2)


def refused(story: Story) -> None:
    story.progress(protocol="classic", phase=("NOT_APPLICABLE", "EMPTY"))


def not_applicable(protocol: str, members: int | None = None) -> Callable[[Story], None]:
    def check(story: Story) -> None:
        story.progress(
            protocol=protocol,
            phase="NOT_APPLICABLE",
            members_classic=(0,) if protocol != "classic" else tuple(range(9)),
        )
        if members is not None:
            story.progress(members_total=members)

    return check


def expired(story: Story) -> None:
    row: GroupSnapshot | None = story.tables.progress(story.group)
    story.ok("expired groups hold nobody", row is None or not row.members_total, row)


def deleted(story: Story) -> None:
    at = story.truth.at(story.group, "group_deleted")
    epochs = [epoch.epoch for epoch in story.tables.epochs(story.group) if epoch.started_at > at]
    story.ok("a new life begins after the deletion", bool(epochs) and min(epochs) <= 2, epochs)
    story.progress(protocol="consumer", phase="NATIVE", members_total=1)


def native(story: Story) -> None:
    story.progress(protocol="consumer", phase="NATIVE")


STORIES: dict[str, Callable[[Story], None]] = {
    "scale_up": scale_up,
    "slow_revoker": slow_revoker,
    "slow_chain": slow_chain,
    "stuck_revoker": stuck_revoker,
    "stuck_open": stuck_open,
    "crash": crash,
    "static_bounce": static_bounce,
    "fence_loop": fence_loop,
    "duplicate_instance": duplicate_instance,
    "partitions_added": partitions_added,
    "upgrade_eager": upgrade,
    "upgrade_coop": upgrade,
    "upgrade_old_client": upgrade,
    "static_upgrade": upgrade,
    "upgrade_slow": upgrade_slow,
    "upgrade_crash": upgrade_crash,
    "rollback": rollback,
    "offline_upgrade": offline_upgrade,
    "mixed_stall": mixed_stall,
    "classic_forever": classic_forever,
    "classic_static": classic_static,
    "refused": refused,
    "connect": not_applicable("classic"),
    "simple_commit": not_applicable("simple"),
    "streams_classic": not_applicable("classic"),
    "streams_new": not_applicable("streams", members=1),
    # One of the two was told to close, but never sent its leave: log and request log show both
    # members heartbeating to the end.
    "share": not_applicable("share", members=2),
    "expire": expired,
    "expire_classic": expired,
    "deleted": deleted,
    "churn": native,
    "wave": native,
    "assignor_change": native,
    "resubscribe": native,
    "regex": native,
    "big": native,
}
"""Story -> what its group must show."""

TOLD_BY_THE_TRUTH = {
    *("frozen", "topic_deleted", "transactions", "churn_mixed"),
    *("classic_eager", "classic_coop", "classic_slow_join", "classic_fenced_instance"),
}
"""Stories without a check of their own: what must be told of them is in the broker's answers and in
its debug log.
"""

KEPT_BY_COMPACTION = {"scale_up", "upgrade_coop", "mixed_stall", "rollback", "churn"}
"""Stories whose end can still be told where the log cleaner ran all the time."""
