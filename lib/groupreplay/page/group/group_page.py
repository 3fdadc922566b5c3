"""The page of one group: what it is, its timeline, and the same facts as tables. Every time in a
table leads into the timeline.
"""

from __future__ import annotations

from collections.abc import Sequence

from groupreplay.page.drawing import words as w
from groupreplay.page.drawing.document import document, footer, top
from groupreplay.page.drawing.markup import Safe, el, join, name
from groupreplay.page.drawing.parts import client, facts, live_line, section
from groupreplay.page.group.decision_tables import (
    absences_section,
    others_section,
    readiness_section,
)
from groupreplay.page.group.group_tables import (
    epochs_section,
    hand_overs_section,
    members_section,
    requests_of,
    stuck_section,
    tasks_section,
)
from groupreplay.page.model.life import GroupLife
from groupreplay.page.timeline.arrows import hand_over_looks, move_looks
from groupreplay.page.timeline.epoch_marks import (
    later_lives,
    never_settled,
    said_lives,
    shown_epochs,
)
from groupreplay.page.timeline.held_partitions import has_gaps
from groupreplay.page.timeline.lane_marks import absence_looks, has_unseen, is_loud_end, is_static
from groupreplay.page.timeline.timeline import Timeline, timeline


def group_page(life: GroupLife) -> str:
    """The page as HTML."""
    drawn = timeline(life)
    has_tasks = bool(life.tasks or life.task_moves)
    body = join(
        [
            el("a", "To the timeline", href="#timeline", cls="skip"),
            top(life.cluster, life.logical_date, life.as_of_ms, home="../index.html"),
            el(
                "main",
                el("h1", name(life.group_id), cls="gid"),
                _sentence(life),
                _facts(life),
                _timeline_section(life, drawn),
                hand_overs_section(life, drawn.lanes) if life.hand_overs or not has_tasks else None,
                tasks_section(life, drawn.lanes) if has_tasks else None,
                stuck_section(life, drawn.lanes),
                epochs_section(life, drawn.lanes),
                absences_section(life, drawn.lanes),
                readiness_section(life) if life.verdict else None,
                others_section(life),
                members_section(life),
            ),
            footer(life.version, life.cluster, str(life.logical_date)),
        ]
    )
    stretches = [
        [each.from_ms, each.to_ms, round(each.x, 4), round(each.width, 4)]
        for each in drawn.axis.stretches
    ]
    title = f"{life.group_id[:80]} in {life.cluster}, {life.logical_date}"
    return document(title, body, {"stretches": stretches}, cls="gp")


def _sentence(life: GroupLife) -> Safe:
    state = life.state
    if state is None:
        return el(
            "p", el("b", "Gone"), ": the group was deleted before the end of this night.", cls="sub"
        )
    kind = w.KIND.get(state.phase, "empty")
    word = w.word(w.PHASE, state.phase)
    if state.phase == "NOT_APPLICABLE":
        word += " in the migration"
    parts: list[object] = [el("b", word[:1].upper() + word[1:], cls=f"t-{kind}", title=state.phase)]
    if state.streams_protocol:
        parts.append(f" (Kafka Streams, {state.streams_protocol} protocol)")
    if state.phase == "MIGRATING":
        since = (
            f" for {w.lasted(life.as_of_ms - state.mixed_since_at_ms)}"
            if state.mixed_since_at_ms is not None
            else ""
        )
        parts.append(
            f"{since}: {state.members_consumer} of {w.some(state.members_total, 'member')} speak"
            " the consumer protocol."
        )
        if state.is_stalled:
            parts.append(" It has been so for too long.")
        if state.waits_for:
            parts += [" It waits for ", join([client(*one) for one in state.waits_for], ", "), "."]
    else:
        parts.append(f": {w.some(state.members_total, 'member')}.")
        if state.downgraded_at_ms is not None:
            parts.append(f" It went back to classic at {w.when(state.downgraded_at_ms)}.")
        elif state.upgraded_at_ms is not None:
            parts.append(f" It was all on consumer at {w.when(state.upgraded_at_ms)}.")
    if not state.history_complete:
        parts.append(" Part of its history was not seen.")
    return el("p", *parts, cls="sub")


def _facts(life: GroupLife) -> Safe:
    epochs = shown_epochs(life)
    never = sum(each.outcome == "SUPERSEDED" for each in epochs)
    newest = life.state.group_epoch if life.state else None
    if newest is None and life.epochs:
        newest = life.epochs[-1].epoch
    now = sum(each.is_open for each in life.stuck)
    state = life.state
    if life.task_moves or life.tasks:
        cold = sum(each.kind == "COLD" for each in life.task_moves)
        least = _least(life, "task_moves")
        moves = (
            "Tasks that left a process",
            least + w.n(len(life.task_moves)),
            f"{least}{w.n(cold)} of them cold",
        )
    else:
        requests = requests_of(life)
        slowest = max(
            (each.revoke_ms for each in life.hand_overs if each.revoke_ms is not None), default=None
        )
        least = _least(life, "hand_overs")
        moves = (
            "Hand-overs",
            least + w.n(len(requests)),
            f"of {least}{w.some(len(life.hand_overs), 'partition')}, slowest"
            f" {least if slowest is not None else ''}{w.lasted(slowest)}"
            if requests
            else "no partition was asked back",
        )
    least = _least(life, "epochs")
    began = f"{least}{w.n(len(epochs))} began, {least}{w.n(never)} never settled"
    stuck = _least(life, "stuck")
    ended = len(life.stuck) - now
    return facts(
        (
            ("Epoch", w.NONE if newest is None else w.n(newest), began + said_lives(life)),
            moves,
            ("Stuck", f"{w.n(now)} now", f"{stuck}{w.n(ended)} ended"),
            (
                "Team",
                (state.team if state else None) or w.NONE,
                (state.contact if state else None)
                or ("by the owners file" if state and state.team else "no owners file names one"),
            ),
        ),
        cls="facts row",
    )


def _least(life: GroupLife, kind: str) -> str:
    """Stands before a count of rows of which not all are here."""
    return "≥ " if kind in life.cut else ""


# ---------------------------------------------------------------- the timeline


def _timeline_section(life: GroupLife, drawn: Timeline) -> Safe:
    what = "process" if life.processes else "client"
    number = "" if life.processes else ", a small number the partitions that it holds"
    lead = (
        f"From {w.when(drawn.axis.from_ms)} to {w.when(life.as_of_ms)} UTC. A lane is a"
        f" {what}{number}." + (" Hatched is quiet time, folded." if drawn.axis.folds else "")
    )
    title = "The night" if life.first_night is None else "The nights"
    tools = el(
        "div",
        el(
            "span",
            el("button", "−", type_="button", id="zo", aria_label="Zoom out"),
            el("button", "+", type_="button", id="zi", aria_label="Zoom in"),
            el("button", "Fit", type_="button", id="zf"),
            cls="btns",
        ),
        el("span", "Arrow keys go from mark to mark, + and − zoom, 0 fits.", cls="hint"),
        cls="tools js",
    )
    notes = [
        el("p", note, cls="note")
        for note in (
            f"{w.some(drawn.lanes.left_out, 'more lane')}, to which least happened, are in the"
            " tables only."
            if drawn.lanes.left_out
            else "",
            _cut_marks(drawn),
            _cut_rows(life),
        )
        if note
    ]
    return section("timeline", title, lead, _key(life), tools, *drawn.drawn, live_line(), *notes)


Swatch = tuple[bool, str, Sequence[Safe]]
"""Whether the page has such marks, what they mean, and one of them."""


def _cut_marks(drawn: Timeline) -> str:
    cut = ", ".join(f"{w.n(shown)} of {w.n(of)} {kind}" for kind, (shown, of) in drawn.cut.items())
    return f"The most telling ones are drawn: {cut}." if cut else ""


def _cut_rows(life: GroupLife) -> str:
    cut = ", ".join(
        f"{w.n(rows)} of {_LISTS.get(kind, kind.replace('_', ' '))}"
        for kind, rows in sorted(life.cut.items())
    )
    return (
        "Not on this page at all, neither drawn nor counted, are rows that ended before the others:"
        f" {cut}. The tables of the night have them."
        if cut
        else ""
    )


_LISTS = {
    "spans": "what members were doing",
    "held": "who held partitions",
    "tasks": "who held tasks",
    "stuck": "stuck episodes",
    "days": "costs of days",
    "what_if": "prices of waves",
}
"""What rows of a list are, where its name does not say."""

_GONE = (
    ("absent", "gone, absorbed"),
    ("absent lost", "gone, not absorbed"),
    ("absent open", "gone, its end not seen"),
)


def _key(life: GroupLife) -> Safe:
    """What marks mean: those that are on this page."""
    absences = {absence_looks(each) for each in life.absences if is_static(each)}
    moves = {move_looks(each) for each in life.task_moves}
    arrows = {hand_over_looks(each) for each in life.hand_overs}
    unseen = has_unseen(life)
    swatches: Sequence[Swatch] = (
        *_of_members(life),
        *[(looks in absences, words, [_swatch(7, 3, looks)]) for looks, words in _GONE],
        (
            bool(life.stuck),
            "stuck",
            [_swatch(0, 18, "shade own"), el("line", x1=0, x2="100%", y1=17, y2=17, cls="s-stuck")],
        ),
        ("hand" in arrows, "handed over", [_arrow("hand", "arrow")]),
        ("hand bad" in arrows, "fenced, then handed over", [_arrow("hand bad", "arrow-bad")]),
        ("hand" in moves, "handed over warm", [_arrow("hand", "arrow")]),
        ("hand cold" in moves, "handed over cold", [_arrow("hand cold", "arrow-cold")]),
        ("hand bad" in moves, "bounced back", [_arrow("hand bad", "arrow-bad")]),
        *_of_tasks(life),
        *_of_the_group(life),
        *_of_epochs(life),
        (
            unseen,
            "start or end not seen",
            [_swatch(5, 8, "sp stable p-classic"), _swatch(5, 8, "fray", 12)],
        ),
    )
    keys = [
        el("span", el("svg", *drawn, width=30, height=18, aria_hidden="true"), words)
        for is_there, words, drawn in swatches
        if is_there
    ]
    return el("p", *keys, cls="key tlkey")


def _of_the_group(life: GroupLife) -> Sequence[Swatch]:
    cross = [
        el("circle", cx=14, cy=9, r=7, cls="gone"),
        el("text", "×", x=14, y=13.5, text_anchor="middle", cls="gonex"),
    ]
    return (
        (any(is_loud_end(each) for each in life.members), "fenced, or may have been", cross),
        (
            has_gaps(life) and not life.tasks,
            "nobody had the partition",
            [el("line", x1=1, x2=29, y1=9, y2=9, cls="gap")],
        ),
        (
            bool(life.conversions),
            "the group changed its protocol",
            [el("circle", cx=14, cy=9, r=4, cls="f-mixed")],
        ),
        (
            later_lives(life),
            "another life or log of the group",
            [el("line", x1=14, x2=14, y1=0, y2=18, cls="newlife")],
        ),
    )


def _of_epochs(life: GroupLife) -> Sequence[Swatch]:
    holes = any(each.outcome == "UNOBSERVED" for each in life.epochs)
    shown = shown_epochs(life)
    return (
        (
            not all(never_settled(each) for each in shown),
            "epoch, until all were stable",
            [
                el("line", x1=8, x2=8, y1=0, y2=18, cls="epoch"),
                el("rect", x=8, y=5, width=20, height=8, cls="settle"),
            ],
        ),
        (
            any(never_settled(each) for each in shown),
            "epoch that never settled",
            [
                el("line", x1=8, x2=8, y1=0, y2=18, cls="epoch never"),
                el("rect", x=8, y=5, width=20, height=8, cls="settle never"),
            ],
        ),
        (
            bool(life.rebalances),
            "join and sync phase",
            [
                el("rect", x=1, y=6, width=14, height=6, cls="joining"),
                el("rect", x=15, y=6, width=13, height=6, cls="syncing"),
            ],
        ),
        (
            not life.rebalances and any(each.joined_at_ms is not None for each in shown),
            "sync phase",
            [_swatch(6, 6, "syncing")],
        ),
        (holes, "records are missing", [_swatch(0, 18, "hole")]),
    )


def _of_members(life: GroupLife) -> Sequence[Swatch]:
    states = {each.state for each in life.spans}
    protocols = {each.member_protocol for each in life.spans}
    away = any(each.member_epoch == -2 for each in life.spans)
    return (
        ("consumer" in protocols, "speaks consumer", [_swatch(5, 8, "sp stable p-consumer")]),
        ("streams" in protocols, "speaks streams", [_swatch(5, 8, "sp stable p-streams")]),
        ("classic" in protocols, "speaks classic", [_swatch(5, 8, "sp stable p-classic")]),
        (
            any(each.startswith("UNREVOKED") for each in states),
            "asked to let go",
            [_swatch(1, 16, "sp asked p-consumer")],
        ),
        (
            any(each.startswith("UNRELEASED") for each in states),
            "waits for what others hold",
            [_swatch(1, 16, "sp waits p-consumer")],
        ),
        (away, "static and away", [_swatch(7, 4, "sp away p-consumer")]),
    )


def _of_tasks(life: GroupLife) -> Sequence[Swatch]:
    roles = {each.role for each in life.tasks}
    return (
        (bool(life.processes), "process was there", [_swatch(8, 2, "process")]),
        ("ACTIVE" in roles, "runs a task", [_swatch(4, 11, "hold p-consumer active")]),
        ("STANDBY" in roles, "keeps a replica", [_swatch(7, 4, "hold p-consumer standby")]),
        ("WARMUP" in roles, "learns a task", [_swatch(7, 4, "hold p-consumer warmup")]),
    )


def _swatch(y: int, height: int, cls: str, width: int = 28) -> Safe:
    return el("rect", x=1, y=y, width=width, height=height, cls=cls)


def _arrow(cls: str, head: str) -> Safe:
    return el("line", x1=2, x2=26, y1=3, y2=15, cls=cls, marker_end=f"url(#{head})")
