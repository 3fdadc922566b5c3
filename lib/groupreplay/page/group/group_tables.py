"""The facts of a group as tables, as many rows of each as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from groupreplay.page.drawing import charts
from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.charts import steps_key
from groupreplay.page.drawing.markup import Safe, el, join, name
from groupreplay.page.drawing.parts import (
    client,
    hidden,
    let_go_after,
    move_kind,
    section,
    stuck_reason,
    table,
    td,
    th,
)
from groupreplay.page.group.table_rows import LIFE_HEAD, Shared, most_rows, shared_by
from groupreplay.page.model.fleet import SlowRequest
from groupreplay.page.model.life import Epoch, GroupLife, HandOver, Member, Stuck
from groupreplay.page.model.life_of_tasks import TaskMove
from groupreplay.page.model.rows import LifeKey
from groupreplay.page.timeline.epoch_marks import shown_epochs
from groupreplay.page.timeline.lanes import Lanes, natural


@dataclass(frozen=True, slots=True)
class Request:
    """Partitions that one member was asked for at once and that ended alike."""

    first: HandOver
    steps: SlowRequest
    partitions: tuple[str, ...]


def requests_of(life: GroupLife) -> list[Request]:
    """The slowest first."""
    together: dict[tuple[LifeKey, str, int, str], list[HandOver]] = {}
    for each in life.hand_overs:
        key = (each.life, each.member_id, each.requested_at_ms, each.outcome)
        together.setdefault(key, []).append(each)

    def longest(found: list[HandOver], step: str) -> int | None:
        return max((ms for each in found if (ms := getattr(each, step)) is not None), default=None)

    requests = [
        Request(
            found[0],
            SlowRequest(
                group_id=life.group_id,
                topic=found[0].topic,
                partitions=len(found),
                outcome=found[0].outcome,
                notify_ms=longest(found, "notify_ms"),
                revoke_ms=longest(found, "revoke_ms"),
                unowned_ms=longest(found, "unowned_ms"),
                resume_ms=longest(found, "resume_ms"),
                is_censored=any(each.is_censored for each in found),
            ),
            tuple(f"{each.topic}-{each.partition}" for each in found),
        )
        for found in together.values()
    ]
    return sorted(
        requests,
        key=lambda each: (
            -(each.steps.revoke_ms or 0),
            each.first.requested_at_ms,
            each.first.member_id,
        ),
    )


def hand_overs_section(life: GroupLife, lanes: Lanes) -> Safe:
    requests = requests_of(life)
    most = max((charts.steps_total(each.steps) for each in requests), default=1)
    shared = shared_by(life)
    rows = [_request_row(each, most, lanes, shared) for each in requests[: most_rows(life)]]
    heads = [
        th("Asked at"),
        *shared.life_heads(),
        th("Client", "g"),
        th("Went to", "g p1"),
        th("Partitions", "r"),
        th("Steps", "w300 p1", sorts=False),
        th("Let go after", "r", order="descending"),
        th("No owner", "r p2"),
        th("Outcome"),
    ]
    return section(
        "hand-overs",
        "Hand-overs",
        None,
        steps_key() if rows else None,
        table(
            f"Requests, the slowest first ({w.n(len(requests))})",
            heads,
            rows,
            "No partition was asked back.",
            len(requests),
        ),
    )


def _request_row(each: Request, most: int, lanes: Lanes, shared: Shared) -> Safe:
    first, steps = each.first, each.steps
    bad = first.outcome in ("FENCED", "OPEN")
    taker = name(lanes.client(first.granted_to)) if first.granted_to else w.NONE
    return el(
        "tr",
        shared.time_cell(first.requested_at_ms),
        shared.life_cell(first.life),
        td(name(lanes.client(first.member_id)), "g"),
        td(taker, "g p1"),
        td(w.n(steps.partitions), "r", steps.partitions, _named(each.partitions)),
        td(charts.steps_bar(steps, most), "w300 p1"),
        td(let_go_after(steps), "r", steps.revoke_ms or 0),
        td(w.lasted(steps.unowned_ms), "r p2", steps.unowned_ms or 0),
        td(w.word(w.OUTCOME, first.outcome), "t-stuck" if bad else ""),
    )


_NAMED = 6
"""Partitions of a request that its title names."""


def _named(partitions: Sequence[str]) -> str:
    named = ", ".join(sorted(partitions, key=natural)[:_NAMED])
    return named + (f" and {len(partitions) - _NAMED} more" if len(partitions) > _NAMED else "")


# ---------------------------------------------------------------- Kafka Streams


def tasks_section(life: GroupLife, lanes: Lanes) -> Safe:
    moves = sorted(
        life.task_moves,
        key=lambda each: (-(each.unowned_ms or 0), each.granted_at_ms or 0, each.task_id),
    )
    shared = shared_by(life)
    heads = [
        th("Granted at"),
        *shared.life_heads(),
        th("Task"),
        th("From", "g p1"),
        th("To", "g p1"),
        th("How"),
        th("Learned for", "r p2"),
        th("No owner", "r", order="descending"),
        th("No commit for", "r p2"),
        th("Left to restore", "r p2"),
        th("Outcome"),
    ]
    return section(
        "tasks",
        "Tasks",
        "A task that goes to a process that had learned it before goes on at once. A cold one is"
        " restored first.",
        table(
            f"Tasks that left a process, those without an owner longest first ({w.n(len(moves))})",
            heads,
            [_move_row(each, lanes, shared) for each in moves[: most_rows(life)]],
            "No task left its process.",
            len(moves),
        ),
    )


def _move_row(each: TaskMove, lanes: Lanes, shared: Shared) -> Safe:
    bounced = each.outcome == "RETURNED"
    return el(
        "tr",
        shared.time_cell(each.granted_at_ms),
        shared.life_cell(each.life),
        td(name(each.task_id)),
        td(name(lanes.process(each.from_process_id)), "g p1"),
        td(name(lanes.process(each.to_process_id)) if each.to_process_id else w.NONE, "g p1"),
        td(move_kind(each.kind, each.cause)),
        td(w.lasted(each.learning_ms), "r p2", each.learning_ms or 0),
        td(w.lasted(each.unowned_ms), "r", each.unowned_ms or 0),
        td(w.lasted(each.idle_ms), "r p2", each.idle_ms or 0),
        td(
            w.NONE if each.gap_records is None else w.n(each.gap_records),
            "r p2",
            each.gap_records or 0,
        ),
        td(w.word(w.OUTCOME, each.outcome), "t-stuck" if bounced else ""),
    )


# ---------------------------------------------------------------- stuck, epochs


def stuck_section(life: GroupLife, lanes: Lanes) -> Safe:
    shared = shared_by(life)
    heads = [
        th("Since"),
        *shared.life_heads(),
        th("What"),
        th("Member", "g"),
        th("Held by", "g p1"),
        th(hidden("duration, drawn"), "w200 p1", sorts=False, extra=charts.log_head()),
        th("For", "r"),
        th("Is it over"),
    ]
    return section(
        "stuck",
        "Stuck",
        None,
        table(
            f"Episodes, open ones first ({w.n(len(life.stuck))})",
            heads,
            [_stuck_row(each, lanes, shared) for each in life.stuck[: most_rows(life)]],
            "Nothing was stuck.",
            len(life.stuck),
        ),
    )


def _stuck_row(each: Stuck, lanes: Lanes, shared: Shared) -> Safe:
    who = (
        el("span", "the whole group", cls="nil")
        if each.member_id is None
        else name(
            lanes.client(each.member_id)
            if each.member_id in lanes.member or each.client_id is None
            else each.client_id
        )
    )
    held_by: Sequence[Safe] = [name(lanes.client(member)) for member in each.blocked_by[:3]]
    return el(
        "tr",
        shared.time_cell(each.since_at_ms),
        shared.life_cell(each.life),
        stuck_reason(each.reason, each.repetitions, each.detail),
        td(who, "g"),
        td(join(held_by, ", ") if held_by else w.NONE, "g p1"),
        td(charts.log_dot(each.stuck_ms), "w200 p1", each.stuck_ms),
        td(w.lasted(each.stuck_ms), "r", each.stuck_ms),
        td("now" if each.is_open else "ended", "t-stuck" if each.is_open else ""),
    )


def epochs_section(life: GroupLife, lanes: Lanes) -> Safe:
    shown = list(reversed(shown_epochs(life)))
    shared = shared_by(life)
    heads = [
        th("Began"),
        *([th(LIFE_HEAD)] if shared.has_lives else []),
        th("Epoch", "r"),
        th("Cause"),
        th("Member", "g p1"),
        th("Members", "p2"),
        th("Moved", _moved_looks(shared)),
        th("Settled in", "r"),
        th("Outcome"),
    ]
    causes = {(each.life, each.epoch): each.cause for each in life.streams_epochs}
    return section(
        "epochs",
        "Epochs",
        None,
        table(
            f"Epochs and generations, the newest first ({w.n(len(shown))})",
            heads,
            [
                _epoch_row(each, causes.get((each.life, each.epoch), each.cause), lanes, shared)
                for each in shown[: most_rows(life)]
            ],
            "The group kept its epoch.",
            len(shown),
        ),
    )


def _epoch_row(each: Epoch, cause: str, lanes: Lanes, shared: Shared) -> Safe:
    place = shared.lives.index(each.life)
    classic = (
        f", {each.members_classic} classic"
        if each.members_classic and each.protocol == "consumer"
        else ""
    )
    bad = each.outcome == "SUPERSEDED"
    who = name(lanes.client(each.cause_member_id)) if each.cause_member_id else w.NONE
    return el(
        "tr",
        shared.time_cell(each.started_at_ms),
        td(shared.which_life(place), "", place) if shared.has_lives else None,
        td(w.n(each.epoch), "r", each.epoch),
        td(w.word(w.CAUSE, cause), title=cause),
        td(who, "g p1"),
        td(f"{each.members}{classic}", "p2"),
        td(
            w.NONE if each.partitions_moved is None else w.n(each.partitions_moved),
            _moved_looks(shared),
            each.partitions_moved or 0,
        ),
        td(w.lasted(each.converge_ms), "r", each.converge_ms or 0),
        td(w.word(w.OUTCOME, each.outcome), "t-stuck" if bad else ""),
    )


def _moved_looks(shared: Shared) -> str:
    """A narrow page has room for the life or for this. Without the life, two rows of one number
    would look alike: each life counts its epochs from the beginning.
    """
    return "r p1" if shared.has_lives else "r"


# ---------------------------------------------------------------- members


def members_section(life: GroupLife) -> Safe:
    ordered = sorted(
        life.members, key=lambda each: (str(each.client_id), each.joined_at_ms, each.member_id)
    )
    shared = shared_by(life)
    heads = [
        th("Client", "g"),
        *shared.life_heads(),
        th("Speaks"),
        th("Joined"),
        th("Ended", "p1"),
        th("How"),
        th("Software", "p2"),
        th("Member id", "g p2"),
    ]
    return section(
        "members",
        "Members",
        None,
        table(
            f"Lives of members ({w.n(len(ordered))})",
            heads,
            [_member_row(each, shared) for each in ordered[: most_rows(life)]],
            "The group has no members.",
            len(ordered),
        ),
    )


def _member_row(each: Member, shared: Shared) -> Safe:
    joined = shared.moment(each.joined_at_ms)
    kind = {"classic": "classic", "consumer": "consumer", "streams": "consumer"}
    return el(
        "tr",
        td(client(each.client_id, each.client_host), "g"),
        shared.life_cell(each.life),
        td(el("span", each.member_protocol, cls=f"ph k-{kind.get(each.member_protocol, 'empty')}")),
        td(joined if each.start_observed else join(["before ", joined]), "", each.joined_at_ms),
        td(shared.moment(each.ended_at_ms), "p1", each.ended_at_ms or 0),
        td(
            w.word(w.END, each.end_reason),
            "t-stuck" if each.end_reason == "FENCED" else "",
            title=each.end_detail,
        ),
        td(each.software or w.NONE, "p2"),
        td(el("span", each.member_id, cls="dim id"), "g p2"),
    )
