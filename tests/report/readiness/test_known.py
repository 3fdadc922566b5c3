"""What follows from what is known of a group: assignor, evidence of a finding, absorbed absences."""

from __future__ import annotations

from typing import Any

import pytest

from groupreplay.config.model import BrokersConfig
from groupreplay.report.brokers import brokers_of
from groupreplay.report.readiness.known import Case, Criteria, Group, Member

NOW = 1_700_000_000_000


def group(*members: Member, **given: Any) -> Group:
    usual: dict[str, Any] = {"now_ms": NOW, "protocol": "classic", "phase": "CLASSIC"}
    return Group(members=list(members), **usual | given)


def case(of: Group) -> Case:
    config = BrokersConfig()
    return Case(group=of, brokers=brokers_of(config, {}), criteria=Criteria(brokers=config))


@pytest.mark.parametrize(
    ("of", "assignor"),
    [
        (group(protocol_name="range", members_total=1), "range"),
        (group(protocol_name="range", phase="EMPTY"), None),
        (group(protocol_type="connect", protocol_name="sessioned", phase="NOT_APPLICABLE"), None),
        (
            group(
                Member(member_id="a", protocols=None),
                Member(member_id="b", protocols=["sticky", "range"]),
                protocol="consumer",
                phase="MIGRATING",
            ),
            "sticky",
        ),
        (
            group(
                Member(member_id="a", member_protocol="consumer", protocols=["uniform"]),
                protocol="consumer",
                phase="MIGRATING",
            ),
            None,
        ),
    ],
    ids=[
        "of the K2",
        "nobody there",
        "no worker there",
        "the first that is offered",
        "no classic member",
    ],
)
def test_the_assignor_is_that_of_the_classic_members(of: Group, assignor: str | None) -> None:
    assert of.assignor == assignor


def offset(of: Group, *members: Member) -> int | None:
    return case(of).about(list(members), rule="R1", severity="FIX", detail="x").evidence_offset


def test_evidence_of_one_member_is_its_own_record_and_of_several_the_groups() -> None:
    a, b = Member(member_id="a", profile_offset=7), Member(member_id="b", profile_offset=9)
    classic = group(a, b, k2_offset=30)
    assert offset(classic, a) == 7
    assert offset(classic, a, b) == 30
    assert offset(classic) == 30
    assert offset(group(a, b, protocol="consumer"), a, b) == 9, "it has no K2"
    assert offset(group(protocol="consumer"), Member(member_id="c")) is None


def test_a_finding_names_members_in_order() -> None:
    members = [Member(member_id=name) for name in "ba"]
    found = case(group(*members)).about(members, rule="R1", severity="FIX", detail="x")
    assert [each.member_id for each in found.members] == ["a", "b"]


def test_absences_count_that_were_absorbed_lately_and_whose_length_is_known() -> None:
    lookback = Criteria().readiness.lookback_ms
    ended = [
        (NOW, 3_000, "ABSORBED"),
        (NOW - lookback, 9_000, "ABSORBED"),
        (NOW - lookback - 1, 4_000, "ABSORBED"),
        (NOW, 5_000, "EXPIRED"),
        (NOW, None, "ABSORBED"),
    ]
    found = case(
        group(
            static_ended_at=[each[0] for each in ended],
            static_gap_high_ms=[each[1] for each in ended],
            static_outcomes=[each[2] for each in ended],
        )
    )
    assert found.absorbed_gaps() == [3_000, 9_000]
    assert (found.absorbed(), found.absorbed(3_000)) == (2, 1)


def test_a_group_is_observed_since_the_last_hole() -> None:
    assert case(group(unbroken_since_at=NOW - 5)).observed_ms == 5
    assert case(group(unbroken_since_at=NOW + 5)).observed_ms == 0, "a clock went back"
    assert case(group()).observed_ms is None
