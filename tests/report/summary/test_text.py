"""How the model reads."""

from __future__ import annotations

from groupreplay.page.model.streams_apps import (
    IdleTask,
    Learner,
    MisplacedApp,
    MovedTasks,
    Streams,
    StreamsApps,
    StreamsLoop,
)
from groupreplay.report.summary.decisions_model import (
    CostlyWave,
    Decisions,
    FlipGroup,
    WorstGroup,
)
from groupreplay.report.summary.model import (
    Blocker,
    ClassicClient,
    HalfWayGroup,
    HandOvers,
    Migration,
    NightSummary,
    OutcomePartitions,
    PhaseGroups,
    ReasonEpisodes,
    Seen,
    SlowRequest,
    Stuck,
    StuckEpisode,
    UndecodedRows,
)
from groupreplay.report.summary.text import summary_lines
from groupreplay.report.summary.words import WIDTH
from tests.report.summary.small_night import AS_OF_MS, NIGHT
from tests.report.summary.small_night_summary import LINES, SUMMARY


def test_a_night_reads_as_it_was() -> None:
    assert "\n".join(summary_lines(SUMMARY)) == LINES


def test_a_night_without_rows_has_a_summary() -> None:
    assert summary_lines(NightSummary("c", NIGHT, None)) == [
        "groupreplay, cluster c, night 2026-11-21, nothing read yet",
        *("", "MIGRATION to the consumer protocol: 0 groups"),
        *("", "HAND-OVERS: 0 partitions asked back from a member"),
        *("", "STUCK: 0 now, 0 that ended"),
        *("", "SEEN: 0 inputs, 0 records replayed", "  nothing is missing, and no rule was broken"),
    ]


def test_no_line_is_longer_than_a_screen_whatever_the_names() -> None:
    name = "\x1b[31mé\n\t" * 9000
    member = (name, name, name, name, name)
    summary = NightSummary(
        cluster="c",
        logical_date=NIGHT,
        as_of_ms=AS_OF_MS,
        migration=Migration(
            phases=(PhaseGroups("MIGRATING", 1, 2, 1, 0, 0),),
            half_way=(
                HalfWayGroup(
                    name, None, 50.0, None, None, (Blocker(name, None, name, name),) * 3, 5000
                ),
            ),
            classic_clients=(ClassicClient(name, 5, name),) * 5,
        ),
        hand_overs=HandOvers(
            outcomes=(OutcomePartitions("ACKED", 3),),
            acked_half_ms=1,
            acked_99_pct_ms=90_061_000,
            slowest=(SlowRequest(*member, 0, "ACKED", 1, name, 3_700_000, None),),
        ),
        stuck=Stuck(
            reasons=(ReasonEpisodes("R" * 30, 1, 1),) * 9,
            episodes=(StuckEpisode(*member, "R", AS_OF_MS, 1, True, (name, name), 3),),
        ),
        streams=Streams(
            misplaced=(MisplacedApp(name, name, 5, 2, name, AS_OF_MS),),
            apps=(StreamsApps("classic", 1, 1, 1, 5, 2, 1),),
            learners=(Learner(name, name, name, name, name, 0, 2),),
            learners_total=1,
            moves=(MovedTasks("WARMED", "OPEN", 1),),
            idlest=(IdleTask(name, name, name, "COLD", "RETURNED", 1),),
            loops=(StreamsLoop(name, name, "R", 0, 3),),
        ),
        decisions=Decisions(
            flips=(FlipGroup(name, name, 1, None, name, ("R8",)),),
            wave=CostlyWave(name, name, "ROLLOUT", 0, 1, 1, None, 1, False),
            worst=WorstGroup(name, name, 99.0, None),
        ),
        seen=Seen(undecoded=(UndecodedRows(name, 1),)),
    )
    lines = summary_lines(summary)
    assert max(map(len, lines)) <= WIDTH
    assert all(line.isprintable() for line in lines)


def test_what_is_not_known_is_shown_as_it_is() -> None:
    migration = Migration(
        phases=(PhaseGroups("LATER_PHASE", 2, 0, 0, 0, 0),),
        half_way=(
            HalfWayGroup("g", None, None, None, None, (), 0),
            HalfWayGroup("h", None, 5.0, None, None, (Blocker("m", None, None, None),), 1),
        ),
        classic_clients=(ClassicClient(None, 1, "g"),),
    )
    hand_overs = HandOvers(outcomes=(OutcomePartitions("LATER_OUTCOME", 1),))
    lines = summary_lines(
        NightSummary("c", NIGHT, AS_OF_MS, migration=migration, hand_overs=hand_overs)
    )
    assert lines[3:7] == [
        "  LATER_PHASE               2",
        "  g: 0 % done, waits for nobody known",
        '  h: 5 % done, waits for ""',
        '  clients that still speak the classic protocol: "" (1 group)',
    ]
    assert "  1 LATER_OUTCOME" in lines
