"""What a person reads of Kafka Streams. A night that has all of it is in `test_text.py`."""

from __future__ import annotations

from dataclasses import replace

from groupreplay.page.model.streams_apps import (
    IdleTask,
    Learner,
    MisplacedApp,
    MovedTasks,
    Streams,
    StreamsApps,
    StreamsLoop,
)
from groupreplay.report.summary.model import NightSummary
from groupreplay.report.summary.streams_text import streams_lines
from groupreplay.report.summary.text import summary_lines
from tests.report.summary.small_night import AS_OF_MS, NIGHT
from tests.report.summary.small_night_summary import SUMMARY


def test_without_applications_there_are_no_lines() -> None:
    assert streams_lines(Streams(), AS_OF_MS) == []


def test_applications_are_counted_by_protocol() -> None:
    apps = (StreamsApps("classic", 2, 5, 7, 0, 0, 0), StreamsApps("streams", 1, 1, 1, 0, 0, 0))
    title = (
        "STREAMS: 3 applications of Kafka Streams (2 classic, 1 streams), 6 processes, 8 threads"
    )
    assert streams_lines(Streams(apps=apps), AS_OF_MS) == [title]


def test_a_night_whose_end_is_not_known_does_not_say_how_long_somebody_learns() -> None:
    learner = Learner("g", None, "0_3", "c", None, AS_OF_MS - 90_000, None)
    learning = Streams(learners=(learner,), learners_total=1)
    known, unknown = (streams_lines(learning, as_of)[-1] for as_of in (AS_OF_MS, None))
    assert known.split()[:2] == ["90.0", "s"]
    assert unknown.split()[0] == "?"
    assert known.endswith("g: 0_3 at c")


def test_hand_overs_that_did_not_end_well_stand_beside_their_kinds() -> None:
    moves = (
        MovedTasks("WARMED", "TRANSFERRED", 3),
        MovedTasks("COLD", "RETURNED", 1),
        MovedTasks(None, "OPEN", 2),
    )
    idle = IdleTask("g", None, "0_1", "COLD", "RETURNED", 65_000)
    lines = streams_lines(Streams(moves=moves, idlest=(idle,)), AS_OF_MS)
    assert lines[1:4] == [
        "  6 tasks left a process:",
        "    3 warm, 1 cold, 1 bounced, 2 still open",
        "  longest without a commit:",
    ]
    assert lines[4].endswith("g: 0_1, cold, bounced")


def test_nothing_is_said_of_kafka_streams_where_there_is_none() -> None:
    lines = summary_lines(replace(SUMMARY, streams=Streams()))
    assert not any("STREAMS" in line for line in lines)


def test_what_is_not_known_of_kafka_streams_is_shown_as_it_is() -> None:
    streams = Streams(
        apps=(StreamsApps("streams", 1, 1, 1, 9, 1, 1),),
        misplaced=(
            MisplacedApp("at-once", None, 5, 1, "FOLLOWUP", None),
            MisplacedApp("never", None, 4, 1, "NONE", None),
        ),
        moves=(MovedTasks("LATER_KIND", "LATER_OUTCOME", 1),),
        loops=(StreamsLoop("g", "payments", "PROBING_LOOP", AS_OF_MS, None),),
    )
    lines = summary_lines(NightSummary("c", NIGHT, None, streams=streams))
    first = lines.index("STREAMS: 1 application of Kafka Streams (1 streams), 1 process, 1 thread")
    assert lines[first + 1 : first + 7] == [
        "  1 of 9 tasks not where they should be, in 1 application:",
        "    at-once: 1 of 5, the next rebalance is due at once",
        "    never: 1 of 4",
        "  1 task left a process:",
        "    1 LATER_KIND",
        "  PROBING_LOOP, g (payments), since 2026-11-21 01:02:03",
    ]
