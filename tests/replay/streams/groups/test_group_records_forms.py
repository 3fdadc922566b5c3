"""The forms of streams groups' records make what a broker writes: values with the fields of Kafka's
layouts, tasks and epochs where the broker has them.
"""

from __future__ import annotations

import pytest

from groupreplay.records.others import OtherGroupRecord
from tests.support.building import record
from tests.support.recordings import group, groups
from tests.support.streams_forms import FORMS
from tests.support.words import Form, FormError

RECORDED = group("other-groups-4.2", "streams-new")
RECORDS = {
    entry.offset: entry.record
    for entry in RECORDED.entries
    if isinstance(entry.record, OtherGroupRecord)
}
H, S1 = RECORDS[0].member_id, RECORDS[49].member_id

WRITTEN: dict[int, Form] = {
    2: {
        "streams_group": 2,
        "hash": -4205532965512272259,
        "configs": {"num.standby.replicas": 0},
    },
    3: {"streams_current": H, "epoch": 1, "prev": 0},
    6: {
        "streams_group": 3,
        "hash": -8314046709246059482,
        "validated": 0,
        "configs": {"num.standby.replicas": 0},
    },
    49: {
        "streams_member": S1,
        "client": "streams-new-s1-StreamThread-1-consumer",
        "host": "/127.0.0.1",
        "process": "03980a1a-fbfa-4ffc-ba5c-7dab6e54e3e8",
    },
    52: {"streams_target": S1, "active": ["0-2", "0-3"]},
    53: {"streams_target_epoch": 4},
    54: {"streams_current": S1, "epoch": 4, "prev": 0, "state": "UNRELEASED_TASKS"},
    71: {
        "streams_current": H,
        "epoch": 3,
        "state": "UNREVOKED_TASKS",
        "active": ["0-0", "0-1"],
        "pending": ["0-2", "0-3"],
        "epochs": {"0-0": 3, "0-1": 3, "0-2": 3, "0-3": 3},
    },
    99: {"streams_currentx": H},
    100: {"streams_targetx": H},
    101: {"streams_memberx": H},
}
"""Offset in p14 -> the form of the record there."""


@pytest.mark.parametrize("offset", WRITTEN)
def test_a_form_makes_the_recorded_record(offset: int) -> None:
    assert record(WRITTEN[offset], RECORDED.group_id) == RECORDS[offset]


def test_the_forms_have_the_fields_of_every_recorded_value() -> None:
    """Of all types, in all 8 groups."""
    bare = {kind: record({name: 1}) for name, (kind, _, _) in FORMS.items()}
    seen = set()
    for recorded in groups("streams-protocol-4.3"):
        for entry in recorded.entries:
            made = entry.record
            if isinstance(made, OtherGroupRecord) and made.value is not None:
                seen.add(made.key_type)
                written = bare[made.key_type]
                assert isinstance(written, OtherGroupRecord)
                assert written.value is not None
                assert written.value.keys() == made.value.keys(), made.key_type
    assert seen == set(bare)


def test_a_topology_has_the_fields_of_the_recorded_one() -> None:
    written = record(
        {
            "streams_topology": 0,
            "subtopologies": {
                0: {"sources": ["streams-new"], "changelogs": ["streams-new-counts-changelog"]}
            },
        },
        RECORDED.group_id,
    )
    assert isinstance(written, OtherGroupRecord)
    value, recorded = written.value, RECORDS[1].value
    assert value is not None
    assert recorded is not None
    mine, theirs = value["subtopologies"][0], recorded["subtopologies"][0]
    changelogs = "state_changelog_topics"
    assert mine.keys() == theirs.keys()
    assert mine[changelogs][0].keys() == theirs[changelogs][0].keys()
    assert mine["source_topics"] == theirs["source_topics"]
    assert mine[changelogs][0]["name"] == theirs[changelogs][0]["name"]


@pytest.mark.parametrize(
    "form",
    [
        {"streams_group": 1, "epoch": 2},
        {"streams_groupx": 1, "hash": 2},
        {"streams_current": "A", "active": ["0"]},
        {"streams_topology": 0, "subtopologies": {0: {"topics": ["foo"]}}},
    ],
)
def test_a_word_or_a_task_that_is_none_fails(form: Form) -> None:
    with pytest.raises(FormError):
        record(form)
