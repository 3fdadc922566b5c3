"""Processes of Kafka Streams applications, with tags and versions."""

from __future__ import annotations

from pyspark.sql import DataFrame, Row

from groupreplay.replay.streams_facts import StreamsProcess
from groupreplay.report.catalog import SPECS
from groupreplay.report.context import ReportContext
from groupreplay.report.digest import row_hash
from groupreplay.report.tables.streams_processes import streams_processes
from tests.report.conftest import Stage
from tests.report.facts_by_hand import fact
from tests.support.table_inputs import inputs_of


def by_offset(frame: DataFrame) -> dict[int, Row]:
    return {row.from_offset: row for row in frame.collect()}


def test_a_process_has_its_tags_as_a_map(stage: Stage, context: ReportContext) -> None:
    facts = [
        fact(
            StreamsProcess,
            from_offset=1,
            tag_names=["zone", "rack", "zone"],
            tag_values=["a", "1", "b"],
            endpoint="app:80",
            versions=[11, 2**40],
        ),
        fact(StreamsProcess, from_offset=2),
        fact(StreamsProcess, from_offset=3, tag_names=["zone", "rack"], tag_values=["a"]),
    ]
    rows = by_offset(streams_processes(inputs_of(stage(*facts), context)))
    assert {at: row.client_tags for at, row in rows.items()} == {
        1: {"zone": "a", "rack": "1"},
        2: {},
        3: {"zone": "a", "rack": None},
    }
    assert (rows[1].endpoint, rows[1].versions, rows[2].endpoint) == ("app:80", [11, None], None)


def test_digests_of_maps_can_be_taken(stage: Stage, context: ReportContext) -> None:
    tags = {"tag_names": ["zone", "rack"], "tag_values": ["a", "1"]}
    turned = {name: values[::-1] for name, values in tags.items()}
    facts = [fact(StreamsProcess, **tags), fact(StreamsProcess, **turned), fact(StreamsProcess)]
    frame = streams_processes(inputs_of(stage(*facts), context))
    hashes = [row[0] for row in frame.select(row_hash(SPECS["streams_processes"])).collect()]
    assert (hashes[0] == hashes[1], hashes[0] == hashes[2]) == (True, False)
