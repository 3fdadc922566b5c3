"""Subtopologies of Kafka Streams applications: of both kinds of groups, open or over."""

from __future__ import annotations

from groupreplay.replay.streams_facts import StreamsSubtopology
from groupreplay.report.context import ReportContext
from groupreplay.report.tables.streams_subtopologies import streams_subtopologies
from tests.report.conftest import Stage
from tests.report.facts_by_hand import fact
from tests.support.table_inputs import inputs_of


def test_what_only_one_kind_of_group_shows_is_null_in_the_other(
    stage: Stage, context: ReportContext
) -> None:
    facts = [
        fact(StreamsSubtopology, group_id="classic", tasks=2**40),
        fact(
            StreamsSubtopology,
            group_id="streams",
            changelog_topics=["counts-changelog"],
            stateful_basis="TOPOLOGY",
            has_source_changelog=False,
            is_final=True,
        ),
        fact(
            StreamsSubtopology,
            group_id="not seen",
            is_stateful=None,
            stateful_basis="NOT_SEEN",
            standby_replicas=None,
        ),
    ]
    rows = streams_subtopologies(inputs_of(stage(*facts), context)).collect()
    found = {
        row.group_id: (row.is_stateful, row.changelog_topics, row.standby_replicas, row.is_final)
        for row in rows
    }
    assert found == {
        "classic": (True, None, 1, False),
        "streams": (True, ["counts-changelog"], 1, True),
        "not seen": (None, None, None, False),
    }
    assert {row.tasks for row in rows} == {2**31 - 1, 5}
