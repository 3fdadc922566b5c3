"""What each story of the recordings must show, as the script played it."""

from __future__ import annotations

from collections.abc import Callable

from groupreplay.replay.facts import GroupSnapshot
from tests.truth.story import BEAT_MS, DEFAULT_BEAT_MS, Story


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
