"""Why a classic rebalance began, in the words of the coordinators of several releases.

Source: GroupMetadataManager.addMemberThenRebalanceOrCompleteJoin and its like (4.x),
GroupCoordinator.scala (up to 3.9).
"""

from __future__ import annotations

import pytest

from groupreplay.records.log_events import LogEvent
from groupreplay.wire.text import rebalance_reasons as reasons
from groupreplay.wire.text.rebalance_reasons import member_ids_of, split_reason

UUID = "6b6ee1d0-1f0b-4bd5-b2a7-1f1b9c0a7a10"
OTHER = "0b6ee1d0-1f0b-4bd5-b2a7-1f1b9c0a7a11"
MADE_BY_A_CLIENT = "dGhlIG1lbWJlciBpZCBpcw"


def said(text: str) -> LogEvent:
    event = LogEvent(event="REBALANCE_PREPARED", at_ms=0)
    split_reason(event, text)
    return event


@pytest.mark.parametrize(
    ("text", "kind", "instance", "client"),
    [
        (
            f"Adding new member c-{UUID} with group instance id null; client reason: not provided",
            reasons.NEW_MEMBER,
            None,
            None,
        ),
        (
            f"Adding new member c-{UUID} with group instance id Some(i 1); client reason: rebalance"
            " failed due to UnjoinedGroupException",
            reasons.NEW_MEMBER,
            "i 1",
            "rebalance failed due to UnjoinedGroupException",
        ),
        (
            f"Member c-{UUID} is joining group during Stable; client reason: x; client reason: y",
            reasons.REJOINED,
            None,
            "x; client reason: y",
        ),
        (
            f"Leader c-{UUID} re-joining group during Stable; client reason: triggered",
            reasons.LEADER_REJOINED,
            None,
            "triggered",
        ),
        (
            f"Updating metadata for static member c-{UUID} with instance id i; client reason: ",
            reasons.STATIC_METADATA_CHANGED,
            "i",
            None,
        ),
        (f"removing member c-{UUID} on heartbeat expiration.", reasons.SESSION_EXPIRED, None, None),
        (f"removing member c-{UUID} on heartbeat expiration", reasons.SESSION_EXPIRED, None, None),
        (
            f"Error X when storing group assignment during SyncGroup (member: c-{UUID}).",
            reasons.ASSIGNMENT_NOT_STORED,
            None,
            None,
        ),
    ],
)
def test_a_reason_is_its_kind_its_member_and_the_client_s_words(
    text: str, kind: str, instance: str | None, client: str | None
) -> None:
    event = said(text)
    assert (event.detail, event.member_id) == (kind, f"c-{UUID}")
    assert (event.instance_id, event.client_reason) == (instance, client)


def test_a_downgrade_names_nobody() -> None:
    event = said("Downgrade group g from consumer to classic for member m.")
    assert (event.detail, event.member_id, event.member_ids) == (reasons.DOWNGRADED, None, ())


def test_a_reason_that_is_not_known_is_told_as_it_is() -> None:
    event = said("Another reason; client reason: because")
    assert (event.detail, event.client_reason) == ("Another reason", "because")
    assert said("Another reason").client_reason is None


def test_who_left_together_is_named_by_a_list() -> None:
    event = said(f"explicit `LeaveGroup` request for (c-{UUID}, d-{OTHER}) members.")
    assert (event.detail, event.member_id) == (reasons.LEFT, None)
    assert event.member_ids == (f"c-{UUID}", f"d-{OTHER}")


def test_an_only_member_of_a_list_is_the_member() -> None:
    event = said(f"Removing HashSet(c-{UUID}) on pending sync request expiration.")
    assert (event.detail, event.member_id) == (reasons.SYNC_TIMEOUT, f"c-{UUID}")


@pytest.mark.parametrize(
    ("text", "members"),
    [
        (f"[c-{UUID}, d-{OTHER}]", (f"c-{UUID}", f"d-{OTHER}")),
        (f"Set(a, b-{UUID})", (f"a, b-{UUID}",)),
        (f"Set({MADE_BY_A_CLIENT}, b-{UUID})", (MADE_BY_A_CLIENT, f"b-{UUID}")),
        (f"List({UUID}, {OTHER})", (UUID, OTHER)),
        ("[m1, m2]", ("m1", "m2")),
        ("m1", ("m1",)),
        ("", ()),
    ],
)
def test_lists_as_java_and_scala_print_them(text: str, members: tuple[str, ...]) -> None:
    """A client id can hold the comma that parts ids: the id ends with its UUID."""
    assert member_ids_of(text) == members
