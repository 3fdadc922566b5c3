"""`evidence` of members, of what they held and of absences: the line that tells how each ended
(evidence.md, Ends of members)."""

from __future__ import annotations

from typing import Any, Final

from tests.simulator.compare import Key, Untold, Wanted
from tests.simulator.expected import member_assignments, member_ends, static_accounting
from tests.simulator.expected.contacts import memberships_of
from tests.simulator.expected.departure_lines import DepartureLines
from tests.simulator.expected.history import Check, History
from tests.simulator.expected.member_ends import ends_of
from tests.simulator.expected.static_accounting import absences_in

HOUR_MS: Final = 3_600_000


def _of_members(history: History) -> dict[Key, Wanted]:
    lines, ends = DepartureLines(history), member_ends.CHECK.wanted(history)
    wanted: dict[Key, Wanted] = {}
    for life in history.lives:
        for each in memberships_of(life):
            key = (life.group_id, each.member_id, each.opened.first_offset)
            evidence = None
            offsets = [each.opened.first_offset]
            if each.ended is not None:
                evidence = lines.of(each.member_id, ends.get(key), each.opened.at, each.ended.at)
                offsets.append(each.ended.first_offset)
            wanted[key] = Wanted({"evidence": evidence}, tuple(offsets))
    return wanted


def _of_spans(history: History) -> dict[Key, Wanted]:
    lines, ends = DepartureLines(history), ends_of(history)
    wanted: dict[Key, Wanted] = {}
    for life, span, key, row in member_assignments.spans_of(history):
        evidence: Any = None
        if span.closed is not None and row.values["end_reason"] == "LEFT_OR_FENCED":
            opened, closed = life.operations[span.opened], life.operations[span.closed]
            end = ends.get((life.group_id, span.member_id, closed.first_offset))
            evidence = lines.of(span.member_id, end, opened.at, closed.at)
        wanted[key] = Wanted({"evidence": evidence}, row.offsets, row.left_out)
    return wanted


def _of_absences(history: History) -> dict[Key, Wanted]:
    lines, ends = DepartureLines(history), ends_of(history)
    wanted: dict[Key, Wanted] = {}
    for key, absence, must in absences_in(history):
        removed, went = absence.removed, absence.went
        evidence: Any = None
        if removed is not None:
            end = ends.get((removed.group_id, went.member_id, removed.first_offset))
            evidence = lines.of(went.member_id, end, removed.at - HOUR_MS, removed.at)
            if end is None:
                evidence = Untold("how it ended")
        wanted[key] = Wanted({"evidence": evidence}, must.offsets, must.left_out)
    return wanted


MEMBERS: Final = Check("member_evidence", _of_members, member_ends.CHECK.key_of)
SPANS: Final = Check(
    "span_evidence", _of_spans, member_assignments.key_of, member_assignments.excuse
)
ABSENCES: Final = Check(
    "absence_evidence",
    _of_absences,
    static_accounting.CHECK.key_of,
    static_accounting.CHECK.excuse,
)
