"""Who of Kafka Streams is called stuck, against what was done to them: learners that were held,
tasks that went back and forth, members that were slow to let go or came back again and again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from groupreplay.config.model import Thresholds
from tests.truth.streams_lives import returns
from tests.truth.streams_moves import moves
from tests.truth.streams_tables import NOISE_MS, StreamsTables, StuckRow
from tests.truth.streams_truth import StreamsTruth

UNSURE_MS = 1_500
"""What is so near to its threshold may be told or not."""
PROBE_MS = 65_000
"""Between two looks at a learner (probing.rebalance.interval.ms of the recordings), and some."""

RUNS_WITHIN_MS = 5_000
"""From a listener's last word of a restore to the next join of its thread, if that is at once."""

HOW = {"flat": ("LEARNER_STANDS", "LEARNER_NO_SUM"), "growing": ("LEARNER_GROWS",)}
"""How the script held a learner -> details that say so."""

_LETS_GO_IN = {"kill", "close", "close_leave", "release"}


@dataclass(frozen=True, slots=True)
class Owed:
    """A row that must be there, or, as it lies at its threshold, that may be.

    who: start of the member's client id, "" of the group. until: None while it goes on.
    """

    group: str
    reason: str
    who: str
    is_sure: bool
    since_by: int
    until_from: int | None
    details: tuple[str | None, ...] = ()
    repetitions: int | None = None

    def fits(self, row: StuckRow) -> bool:
        begins_in_time = self.until_from is None or row.since_at <= self.until_from
        ends_in_time = row.until_at is None or row.until_at >= self.since_by
        is_same = row.reason == self.reason and row.client.startswith(self.who)
        return is_same and begins_in_time and ends_in_time

    def problems(self, row: StuckRow) -> Iterator[str]:
        if row.since_at > self.since_by + NOISE_MS:
            yield f"since {row.since_at}, in truth by {self.since_by}"
        if self.until_from is not None and (
            row.until_at is not None and row.until_at < self.until_from - NOISE_MS
        ):
            yield f"until {row.until_at}, in truth at least until {self.until_from}"
        if self.until_from is None and row.until_at is not None:
            yield f"until {row.until_at}, in truth it goes on"
        if self.details and row.detail_code not in self.details:
            yield f"detail {row.detail_code}, in truth one of {self.details}"
        if self.repetitions is not None and row.repetitions != self.repetitions:
            yield f"{row.repetitions} times, in truth {self.repetitions}"


def stuck(truth: StreamsTruth, tables: StreamsTables, thresholds: Thresholds) -> list[str]:
    """Everybody who was stuck for longer than the thresholds is called so, and nobody else."""
    problems = []
    for group in truth.groups:
        rows = tables.stuck(group, thresholds, truth.thread_of)
        for owed in owed_rows(truth, group, thresholds):
            hit = next((row for row in rows if owed.fits(row)), None)
            if hit is not None:
                rows.remove(hit)
                problems += [f"{hit}: {what}" for what in owed.problems(hit) if owed.is_sure]
            elif owed.is_sure:
                problems.append(f"nobody is told of {owed}")
        problems += [f"{group}: never was: {row}" for row in rows]
    return problems


def owed_rows(truth: StreamsTruth, group: str, thresholds: Thresholds) -> list[Owed]:
    return [
        *_held_learners(truth, group, thresholds),
        *_slow(truth, group, thresholds),
        *_bounced(truth, group, thresholds),
        *_coming_back(truth, group, thresholds),
    ]


def _held_learners(truth: StreamsTruth, group: str, thresholds: Thresholds) -> Iterator[Owed]:
    """Learners whose restore the script held up, from then until it let them go on."""
    for held in truth.timeline:
        if held["action"] != "held" or truth.group_of[held["member"]] != group:
            continue
        client, since = held["member"], held["at"]
        ends = (
            event["at"]
            for event in truth.timeline
            if event["action"] in _LETS_GO_IN and event["member"] == client and event["at"] > since
        )
        end = next(ends, None)
        until = truth.ended if end is None else end
        probes = sum(
            since < led.decided_at <= until
            and "scheduled for" in led.reason
            and "scheduled for 0" not in led.reason
            for led in truth.led[group]
        )
        if (
            probes < thresholds.learner_probes - 1
            or until - since <= thresholds.learner_ms - PROBE_MS
        ):
            continue
        yield Owed(
            group,
            "LEARNER_NEVER_READY",
            client,
            probes >= thresholds.learner_probes
            and until - since > thresholds.learner_ms + UNSURE_MS,
            since,
            end,
            HOW[held["why"]],
            probes,
        )


def _slow(truth: StreamsTruth, group: str, thresholds: Thresholds) -> Iterator[Owed]:
    """Members that were asked for tasks for long, and those that waited for tasks meanwhile."""
    limits = {
        "UNREVOKED_TASKS": ("SLOW_REVOCATION", thresholds.slow_revocation_ms),
        "UNRELEASED_TASKS": ("WAITING_ON_HOLDER", thresholds.waiting_on_holder_ms),
    }
    for (each, member), states in truth.broker.states.items():
        since: dict[str, int] = {}
        for state in states if each == group else ():
            for name in [name for name in since if name != state.state]:
                reason, limit_ms = limits[name]
                began = since.pop(name)
                lasted_ms = state.at - began
                if lasted_ms > limit_ms - UNSURE_MS:
                    is_sure = lasted_ms > limit_ms + UNSURE_MS
                    who = truth.thread_of(member)
                    yield Owed(group, reason, who, is_sure, began, state.at - UNSURE_MS)
            if state.state in limits:
                since.setdefault(state.state, state.at)


def _bounced(truth: StreamsTruth, group: str, thresholds: Thresholds) -> Iterator[Owed]:
    """Tasks that went back, again and again, to the process that had lost them."""
    back: dict[str, list[int]] = defaultdict(list)
    for move in moves(truth, group):
        if move.is_bounce and move.grant is not None:
            back[move.task].append(move.grant.decided_at)
    for times in back.values():
        if len(times) >= thresholds.bounce_count:
            yield Owed(
                group,
                "HANDOVER_BOUNCED",
                "",
                True,
                times[0],
                times[-1],
                ("BOUNCED", "BOUNCED_ONLY"),
                len(times),
            )


def _coming_back(truth: StreamsTruth, group: str, thresholds: Thresholds) -> Iterator[Owed]:
    """Threads that were removed and came back, again and again, whoever made them."""
    for thread, times in returns(truth, group).items():
        within = times[-1] - times[0] <= thresholds.fence_loop_window_ms
        if len(times) >= thresholds.fence_loop_count and within:
            yield Owed(group, "FENCE_LOOP", thread, True, times[0], times[-1], (), len(times))


def restores_end(truth: StreamsTruth, tables: StreamsTables) -> list[str]:
    """Classic groups: nobody is said to restore after its listener said that all is restored."""
    problems = []
    for group in truth.groups:
        for stall in tables.stalls(group, "RESTORING"):
            client = truth.client(stall.member_id or "")
            ended = [
                event["at"]
                for event in truth.seen
                if event["event"] == "restore_end" and event["member"] == client
            ]
            until = tables.as_of_ms if stall.until_at is None else stall.until_at
            last = max((at for at in ended if at <= until), default=until)
            if until - last > RUNS_WITHIN_MS:
                problems.append(f"{client} has restored since {last}: {stall}")
    return problems
