"""Errors that members were answered with: of recordings, counted in their request logs by a reader
of a few lines, and by hand.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, NamedTuple

import pytest
from pyspark.sql import Row

from groupreplay.evidence.evidence_facts import Contact
from groupreplay.replay.facts import Fact, MemberLife
from groupreplay.report.tables.members import members
from tests.report.conftest import Prove, Stage
from tests.report.evidence_by_hand import evidence
from tests.report.facts_by_hand import AT, life
from tests.support.fact_frames import only_row
from tests.support.log_lines import recorded_evidence
from tests.support.recordings import groups, recordings
from tests.support.replaying import replayed
from tests.support.table_inputs import inputs_of

_COMPLETED: Final = re.compile(r"\[([^\]]+)\] DEBUG Completed request:(.*) \(kafka\.request")

Errors = dict[tuple[str, int], tuple[int, int, int]]
"""API and error code -> how many requests, and when the first and the last was answered, ms."""


class Answer(NamedTuple):
    group_id: str
    member_id: str
    api: str
    error_code: int
    at: int


def answers(recording: str) -> Iterator[Answer]:
    """Of requests under a member id."""
    for log in sorted(recordings()[recording].glob("broker-*.request.log.gz")):
        with gzip.open(log, "rt", encoding="utf-8") as lines:
            for line in lines:
                if (found := _COMPLETED.match(line)) is None:
                    continue
                said = json.loads(found[2])
                if said["request"].get("memberId"):
                    yield Answer(
                        said["request"]["groupId"],
                        said["request"]["memberId"],
                        said["requestHeader"]["requestApiKeyName"],
                        max(_codes(said["response"]), default=0),
                        _ms(found[1]),
                    )


def _codes(said: Any) -> Iterator[int]:
    """Of the answer itself, or of each partition in it."""
    if isinstance(said, Mapping):
        for name, value in said.items():
            yield from [value] if name == "errorCode" else _codes(value)
    elif isinstance(said, list):
        for each in said:
            yield from _codes(each)


def _ms(text: str) -> int:
    at = datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f").replace(tzinfo=UTC)
    return round(at.timestamp() * 1000)


@cache
def errors_of(recording: str) -> dict[tuple[str, str], Errors]:
    """Group and member -> its errors since it was let in; who never was is no member."""
    found: dict[tuple[str, str], Errors] = {}
    for each in sorted(answers(recording), key=lambda each: each.at):
        member = (each.group_id, each.member_id)
        if not each.error_code:
            found.setdefault(member, {})
        elif member in found:
            kind = (each.api, each.error_code)
            count, first, _ = found[member].get(kind, (0, each.at, 0))
            found[member][kind] = (count + 1, first, each.at)
    return found


def lives_of(recording: str) -> list[MemberLife]:
    """Of members that had one life: a member id that comes back has other contacts."""
    facts: list[Fact] = []
    for one in groups(recording):
        facts += replayed(one.entries, one.names, (), one.group_id, one.offsets_partition)
    lives: dict[tuple[str, str], list[MemberLife]] = defaultdict(list)
    for each in facts:
        if isinstance(each, MemberLife):
            lives[each.group_id, each.member_id].append(each)
    return [own[0] for own in lives.values() if len(own) == 1]


def told(row: Row) -> Errors:
    lists = (row.error_apis, row.errors, row.error_first_at, row.error_last_at)
    assert len({len(each) for each in lists}) == 1, "they go together"
    return {
        (api, error.error_code): (error.requests, _at(first), _at(last))
        for api, error, first, last in zip(*lists, strict=True)
    }


def _at(at: datetime) -> int:
    return round(at.replace(tzinfo=UTC).timestamp() * 1000)


@pytest.mark.parametrize(
    ("recording", "kinds"),
    [
        ("classic-3.9", {("HEARTBEAT", 27), ("HEARTBEAT", 82), ("OFFSET_COMMIT", 82)}),
        (
            "migration-4.3",
            {("HEARTBEAT", 27), ("CONSUMER_GROUP_HEARTBEAT", 16), ("OFFSET_COMMIT", 16)},
        ),
        ("consumer-4.3", {("OFFSET_COMMIT", 16)}),
    ],
)
def test_errors_are_told_by_the_request_that_they_answered(
    recording: str, kinds: set[tuple[str, int]], stage: Stage, prove: Prove
) -> None:
    """27 is REBALANCE_IN_PROGRESS, 82 FENCED_INSTANCE_ID, 16 NOT_COORDINATOR."""
    contacts = [each for each in recorded_evidence(recording) if isinstance(each, Contact)]
    rows = members(inputs_of(stage(*lives_of(recording)), prove(*contacts))).collect()
    known = errors_of(recording)
    got = {
        (row.group_id, row.member_id): None if row.error_apis is None else told(row) for row in rows
    }
    assert got == {member: known.get(member) for member in got}
    assert {kind for errors in got.values() for kind in errors or ()} == kinds


def test_errors_are_of_the_life_and_may_be_of_an_earlier_release(
    stage: Stage, prove: Prove
) -> None:
    """A life has the contact that began last before it ended. An earlier release kept no request
    and no time of an error.
    """
    row_of = stage(life(ended_at=AT + 20_000, end_reason="LEFT_OR_FENCED", is_final=True))
    kept = {"error_codes": [25, 27], "error_counts": [2, 3], "error_apis": ["", "HEARTBEAT"]}
    earlier = evidence(
        Contact,
        **kept,
        error_first_at=[-1, AT + 4_000],
        error_last_at=[-1, AT + 9_000],
        last_heartbeat_at=AT + 8_000,
    )
    later = {"first_at": AT + 30_000, "last_heartbeat_at": AT + 40_000, "error_codes": [82]}
    later |= {"error_counts": [1], "error_apis": ["JOIN_GROUP"]}
    lines = prove(earlier, evidence(Contact, **later))
    row = only_row(members(inputs_of(row_of, lines)))
    assert row.error_apis == ["", "HEARTBEAT"]
    assert [(each.error, each.requests) for each in row.errors] == [
        ("UNKNOWN_MEMBER_ID", 2),
        ("REBALANCE_IN_PROGRESS", 3),
    ]
    assert [each and _at(each) for each in row.error_first_at] == [None, AT + 4_000]
    assert [each and _at(each) for each in row.error_last_at] == [None, AT + 9_000]
