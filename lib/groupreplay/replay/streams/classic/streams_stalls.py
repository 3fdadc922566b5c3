"""What is stuck in a classic group of Kafka Streams: rows of `stuck_members` and `stuck_groups`.

A stretch is known between generations only. What the reasons mean is in docs/streams.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.replay.facts import Chain, Stall
from groupreplay.replay.kept.streams_tasks import (
    Bounces,
    Generation,
    MemberTasks,
    StreamsState,
    Task,
    TaskSpan,
    task_text,
)
from groupreplay.replay.life import Life
from groupreplay.replay.output import Output
from groupreplay.replay.streams.classic.assignor import FALLBACK, misplaced_tasks
from groupreplay.replay.streams.classic.rebalance_causes import PROBING, SHUTDOWN_CODE
from groupreplay.replay.streams.classic.rebalance_rows import assignor_error
from groupreplay.replay.streams_facts import WARMUP, StreamsRebalance

MAX_CHAIN_LENGTH = 256
MEMBERS_CHANGED = frozenset({"JOIN", "LEFT_OR_FENCED", "STATIC_REPLACED"})


class StreamsStalls:
    """The stalls of one life."""

    def __init__(self, life: Life, state: StreamsState, output: Output) -> None:
        self._life = life
        self._state = state
        self._output = output

    # ------------------------------------------------------------ learners

    def watch_learners(self, now: Generation, is_probing: bool) -> None:
        """A warm-up learns until its task is owed to it."""
        for span in self._state.all_spans():
            if span.row.role != WARMUP:
                continue
            if span.is_owed:
                self.end_learning(span, now)
            elif span.learning is None:
                span.learning = self._learning(now, span)
            else:
                span.learning.repetitions = (span.learning.repetitions or 0) + is_probing
            if span.learning is not None:
                self._describe_learning(now, span, span.learning)

    def end_learning(self, span: TaskSpan, now: Generation) -> None:
        """A warm-up is owed its task, was withdrawn, or its member is gone."""
        stall, span.learning = span.learning, None
        if stall is not None and stall.repetitions:
            self._output.emit_stall(stall, now.at, now.offset)

    def _learning(self, now: Generation, span: TaskSpan) -> Stall:
        row = span.row
        return Stall(
            **self._life.place,
            from_offset=now.offset,
            start_observed=row.start_observed,
            reason="LEARNER_NEVER_READY",
            member_id=row.member_id,
            instance_id=row.instance_id,
            client_id=row.client_id,
            client_host=row.client_host,
            member_protocol="classic",
            since_at=now.at,
            blocked_by=[],
            repetitions=0,
        )

    def _describe_learning(self, now: Generation, span: TaskSpan, stall: Stall) -> None:
        row = span.row
        task = (row.subtopology, row.partition)
        owner = now.active.get(task)
        stall.blocked_by = [owner.member_id] if owner is not None else []
        values = {"task": task_text(task), "probes": stall.repetitions}
        if row.last_sum is None:
            _say(stall, "LEARNER_NO_SUM", values)
        elif span.sum_before is None or row.last_sum > span.sum_before:
            sums = {"first_sum": row.first_sum, "last_sum": row.last_sum}
            _say(stall, "LEARNER_GROWS", values | sums)
        else:
            _say(stall, "LEARNER_STANDS", values | {"last_sum": row.last_sum})

    # ------------------------------------------------------------ one generation

    def watch(
        self,
        before: Generation | None,
        now: Generation,
        row: StreamsRebalance,
        wanted: Mapping[Task, str],
        *,
        changed: bool,
    ) -> None:
        """At the end of a K2 that began a generation.

        before: None behind a hole: what was open is forgotten then.
        changed: a task moved, or a learner began or ended.
        """
        if before is None:
            self.forget()
        self._due(now)
        self._probe(now)
        self._probing_loop(before, now, row, wanted, changed)
        self._unassigned(before, now)
        self._versions(before, now)
        self._errors(now)
        self._restoring(before, now)
        if row.cause != PROBING and row.cause not in MEMBERS_CHANGED and before is not None:
            self._repeat(now, row.cause)

    def _due(self, now: Generation) -> None:
        """Members that were to rejoin at once did so with this generation; others are to now."""
        self._end("FOLLOWUP_MISSING", now)
        due = sorted(m.member_id for m in now.due())
        if due or now.revoked:
            losers = sorted(m.member_id for m in now.members.values() if m.owned - m.given)
            stall = self._open("FOLLOWUP_MISSING", now, True, blocked_by=due or losers)
            _say(stall, "FOLLOWUP_DUE", {"member": (due or losers)[0]})

    def _probe(self, now: Generation) -> None:
        """Since the time at which a member was to rejoin, by its own clock."""
        before = self._state.stalls.pop("PROBE_MISSED", None)
        if before is not None and now.at > before.since_at:
            self._output.emit_stall(before, now.at, now.offset)
        at = now.next_at
        if at is not None and not now.due():
            members = [m.member_id for m in now.members.values() if m.next_ms == at]
            stall = self._open("PROBE_MISSED", now, True, blocked_by=members)
            stall.since_at = at
            _say(stall, "PROBE_DUE", {"member": members[0], "scheduled_at": at})

    def _probing_loop(
        self,
        before: Generation | None,
        now: Generation,
        row: StreamsRebalance,
        wanted: Mapping[Task, str],
        changed: bool,
    ) -> None:
        if row.cause != PROBING or changed or before is None:
            self._end("PROBING_LOOP", now)
            return
        stall = self._state.stalls.get("PROBING_LOOP")
        if stall is None:
            stall = self._open("PROBING_LOOP", now, True, repetitions=0)
        stall.repetitions = (stall.repetitions or 0) + 1
        learners = [s.row for s in self._state.all_spans() if s.row.role == WARMUP]
        stall.blocked_by = sorted({each.member_id for each in learners})
        if learners:
            tasks = sorted({task_text((each.subtopology, each.partition)) for each in learners})
            _say(stall, "LEARNERS", {"learners": tasks})
        elif self._state.assignor == FALLBACK:
            _say(stall, "FALLBACK_ASSIGNOR", {})
        else:
            _say(stall, "NO_BUDGET", {"misplaced": len(misplaced_tasks(now, wanted))})

    def _unassigned(self, before: Generation | None, now: Generation) -> None:
        """Tasks that nobody has and nobody is owed."""
        if not now.missing or now.error:
            self._end("TASK_UNASSIGNED", now)
            return
        stall = self._state.stalls.get("TASK_UNASSIGNED")
        if stall is None:
            stall = self._open("TASK_UNASSIGNED", now, before is not None)
        owners = before.active if before is not None else {}
        had = sorted({owners[task].member_id for task in now.missing if task in owners})
        values: dict[str, Any] = {"tasks": sorted(map(task_text, now.missing))}
        if had:
            values["from_member"] = had[0]
        if stall.detail_code is None or had:
            _say(stall, "UNASSIGNED", values)

    def _versions(self, before: Generation | None, now: Generation) -> None:
        """Members that can read different metadata versions: a rolling upgrade that goes on."""
        latest = {m.member_id: m.latest_version or m.version for m in now.members.values()}
        lowest, highest = min(latest.values()), max(latest.values())
        if lowest == highest:
            self._end("VERSION_MIXED", now)
            return
        stall = self._state.stalls.get("VERSION_MIXED")
        if stall is None:
            stall = self._open("VERSION_MIXED", now, before is not None)
        lower = sorted(i for i, version in latest.items() if version == lowest)
        stall.blocked_by = lower
        _say(stall, "VERSIONS", {"lowest": lowest, "highest": highest, "members": lower})

    def _errors(self, now: Generation) -> None:
        code = now.error
        name = assignor_error(code)
        asked = sorted(m.member_id for m in now.members.values() if m.error_code == SHUTDOWN_CODE)
        if (stall := self._keep("ASSIGNMENT_ERROR", now, code in (1, 2, 3))) is not None:
            _say(stall, "ERROR_CODE", {"error_code": name})
        is_shut = bool(asked) or code == SHUTDOWN_CODE
        if (stall := self._keep("SHUTDOWN_REQUESTED", now, is_shut)) is not None and asked:
            stall.blocked_by = asked
            _say(stall, "ASKED", {"member": asked[0]})

    def _keep(self, reason: str, now: Generation, holds: bool) -> Stall | None:
        """Opens, keeps or ends a stall of any length. Returns one that begins."""
        if not holds:
            self._end(reason, now, any_length=True)
            return None
        return self._open(reason, now, True) if reason not in self._state.stalls else None

    def _restoring(self, before: Generation | None, now: Generation) -> None:
        """Members that restore what they have as active, from the first to the last generation
        that shows it of one task. A task that was granted just before reports offsets once though
        it runs an instant later: so one generation says nothing, nor does the time after the last.
        """
        restoring = {
            member.member_id: {
                task_text(task): member.sums[task]
                for task in sorted(member.owned)
                if member.sums.get(task, -1) >= 0
            }
            for member in now.members.values()
        }
        for key in [k for k in self._state.stalls if k.startswith("RESTORING\x00")]:
            stall = self._state.stalls[key]
            values = dict(zip(stall.detail_names, stall.detail_values, strict=True))
            reached = restoring.get(key.split("\x00")[1], {}).get(values["task"])
            if reached is None:
                self._end(key, now)
            else:
                stall.until_at = now.at
                _say(stall, "RESTORE", values | {"last_sum": reached})
        for member_id, sums in restoring.items():
            key = f"RESTORING\x00{member_id}"
            if sums and key not in self._state.stalls:
                task, reached = next(iter(sums.items()))
                stall = self._open(key, now, before is not None, member=now.members[member_id])
                stall.until_at = now.at
                _say(stall, "RESTORE", _restore(task, reached))

    # ------------------------------------------------------------ repetitions

    def bounced(self, now: Generation, tasks: list[Task], gaps: Mapping[Task, int | None]) -> None:
        """Tasks that a generation returned to the process that another one had taken them from."""
        again: set[Task] = set()
        for each in list(self._state.bounces):
            hit = [task for task in tasks if task in each.bounced]
            if now.at - each.chain.times_at[-1] > MAX_CHAIN_GAP_MS:
                self._output.emit_chain(each.chain)
                self._state.bounces.remove(each)
            elif hit:
                again.update(hit)
                self._add(each.chain, now)
                self._say_bounced(each.chain, hit[0], gaps.get(hit[0]))
        fresh = [task for task in tasks if task not in again]
        if fresh:
            chain = self._chain("HANDOVER_BOUNCED", now)
            self._say_bounced(chain, fresh[0], gaps.get(fresh[0]))
            self._state.bounces.append(Bounces(chain, fresh))

    @staticmethod
    def _say_bounced(chain: Chain, task: Task, gap: int | None) -> None:
        values: dict[str, Any] = {"task": task_text(task)}
        if gap is None:
            _say(chain, "BOUNCED_ONLY", values)
        else:
            _say(chain, "BOUNCED", values | {"gap": gap})

    def _repeat(self, now: Generation, cause: str) -> None:
        """A generation that neither a probe nor a change of members explains."""
        chain = self._state.loop
        if chain is not None and (
            now.at - chain.times_at[-1] > MAX_CHAIN_GAP_MS
            or len(chain.times_at) >= MAX_CHAIN_LENGTH
        ):
            self._output.emit_chain(chain)
            chain = None
        if chain is None:
            chain = self._state.loop = self._chain("REBALANCE_LOOP", now)
            _say(chain, "LOOP_CAUSES", {"causes": [cause]})
            return
        self._add(chain, now)
        causes = json.loads(chain.detail_values[0])
        _say(chain, "LOOP_CAUSES", {"causes": sorted({*causes, cause})})

    def _chain(self, reason: str, now: Generation) -> Chain:
        return Chain(
            **self._life.place,
            from_offset=now.offset,
            reason=reason,
            member_id=None,
            times_at=[now.at],
            ends_at=[now.at],
        )

    @staticmethod
    def _add(chain: Chain, now: Generation) -> None:
        chain.times_at.append(now.at)
        chain.ends_at.append(now.at)

    # ------------------------------------------------------------ open and end

    def _open(
        self,
        key: str,
        now: Generation,
        observed: bool,
        *,
        member: MemberTasks | None = None,
        blocked_by: list[str] | None = None,
        repetitions: int | None = None,
    ) -> Stall:
        stall = self._state.stalls[key] = Stall(
            **self._life.place,
            from_offset=now.offset,
            start_observed=observed,
            reason=key.split("\x00")[0],
            member_id=None if member is None else member.member_id,
            instance_id=None if member is None else member.instance_id,
            client_id=None if member is None else member.client_id,
            client_host=None if member is None else member.client_host,
            member_protocol=None if member is None else "classic",
            since_at=now.at,
            blocked_by=blocked_by or [],
            repetitions=repetitions,
        )
        return stall

    def _end(self, key: str, now: Generation, *, any_length: bool = False) -> None:
        stall = self._state.stalls.pop(key, None)
        if stall is None:
            return
        if any_length:
            stall.until_at, stall.to_offset = now.at, now.offset
            self._output.emit(stall)
        else:
            known_until = now.at if stall.until_at is None else stall.until_at
            self._output.emit_stall(stall, known_until, now.offset)

    def forget(self) -> None:
        """A hole hides when what was open ended."""
        self._state.stalls.clear()
        self.forget_learners()

    def forget_learners(self) -> None:
        """How they went on is not known, or matters no more."""
        for span in self._state.all_spans():
            span.learning = None

    def end_all(self, at: int, offset: int) -> None:
        """The group is empty, or gone: nobody is stuck any more."""
        any_length = ("ASSIGNMENT_ERROR", "SHUTDOWN_REQUESTED")
        moment = Generation(-1, at, offset, -1, None, {})
        for key in list(self._state.stalls):
            if key == "PROBE_MISSED" and self._state.stalls[key].since_at > at:
                del self._state.stalls[key]
            else:
                self._end(key, moment, any_length=key in any_length)

    def end_chains(self) -> None:
        for each in self._state.bounces:
            self._output.emit_chain(each.chain)
        if self._state.loop is not None:
            self._output.emit_chain(self._state.loop)
        self._state.bounces, self._state.loop = [], None


def _restore(task: str, reached: int) -> dict[str, Any]:
    return {"task": task, "first_sum": reached, "last_sum": reached}


def _say(row: Stall | Chain, code: str, values: Mapping[str, Any]) -> None:
    """Sets what else there is to say of a row: numbers as text, lists as JSON."""
    row.detail_code = code
    row.detail_names = list(values)
    row.detail_values = [
        json.dumps(each) if isinstance(each, list) else str(each) for each in values.values()
    ]
