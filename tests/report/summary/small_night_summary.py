"""The summary of the small night, as a model and as text."""

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
    TierGroups,
    WorstGroup,
)
from groupreplay.report.summary.model import (
    Blocker,
    BrokenRule,
    BrokerLogs,
    ClassicClient,
    Coverage,
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
from tests.report.summary.small_night import AS_OF_MS, NIGHT, SINCE_MS

LINES = """\
groupreplay, cluster prod, night 2026-11-21, as of 2026-11-21 01:02:03 UTC

MIGRATION to the consumer protocol: 6 groups; 1 more cannot take part (share, streams, simple, Connect), left out
  consumer protocol         3   1 from birth, 1 migrated, 1 since before the log begins
  half-way                  1   1 mixed for too long
  classic protocol          1
  no members                1
  members                  13   7 of them speak the consumer protocol (53.8 %)
  mixed (payments): 33 % done, mixed for 2 d 5 h, waits for app-0 /10.0.0.1, app-1 /10.0.0.1, app-2 /10.0.0.1 and 1 more
  clients that still speak the classic protocol: app-0 (2 groups), app-1 (2 groups), app-2 (1 group), app-3 (1 group)

HAND-OVERS: 7 partitions asked back from a member
  3 given back (half within 200 ms, 99 % within 300 ms), 1 still open, 3 fenced
  slowest to let go, with the member to be charged:
        45.3 s  orders (orders-team): slow-app /10.0.0.9, 3 partitions, fenced, then unowned 210 ms
        300 ms  orders: m-quick, 3 partitions, given back

STUCK: 3 now, 2 that ended
  HANDOVER_BOUNCED 1 now, 0 ended; MIGRATION_STALLED 1 now, 0 ended; WAITING_ON_HOLDER 1 now, 0 ended
  FENCE_LOOP 0 now, 1 ended; SLOW_REVOCATION 0 now, 1 ended
  now        2 d 5 h  MIGRATION_STALLED, mixed: the whole group, since 2026-11-18 20:02:03
  now         15 min  HANDOVER_BOUNCED 3 times, bouncing: the whole group, since 2026-11-21 00:47:03
  now         30.0 s  WAITING_ON_HOLDER, orders (orders-team): m-wait, held by m-slow, since 2026-11-21 01:01:33
  ended   3 min 20 s  FENCE_LOOP 4 times, loop\\n: c
  ended       45.3 s  SLOW_REVOCATION, orders: slow-app

STREAMS: 3 applications of Kafka Streams (2 classic, 1 streams), 5 processes, 7 threads
  2 of 13 tasks not where they should be, in 1 application:
    swap (payments): 2 of 5, looked at again at 2026-11-21 01:02:53
  2 members learn a task, the longest first:
         3 min  swap (payments): 0_3 at swap-2 /10.0.0.2, not ready at 2 probes
          0 ms  swap (payments): 0_4 at ?
  4 tasks left a process:
    2 warm, 1 cold, 1 bounced, 1 still open
  longest without a commit:
        47.0 s  swap (payments): 0_2, cold
         1.3 s  swap (payments): 0_1, warm, bounced
        960 ms  swap (payments): 0_0, warm
  HANDOVER_BOUNCED 3 times, bouncing, since 2026-11-21 00:47:03

DECISIONS: 3 groups can be flipped to the consumer protocol tonight, 1 after their canaries, 1 while offline
  flip known (payments): proven by its like, 9 partitions, to range
  flip small: a canary, 6 partitions, to range; look at R8
  flip big: a canary, 60 partitions, to range
  costliest wave: a, ROLLOUT at 2026-11-21 00:02:03, 3 out and 3 in, 9 moved; stopped for about 12.3 s in all
  worst group: a, its partitions were read 96.00 to 98.50 % of the time

SEEN: 2 inputs, 1,000 records replayed, 5,000 commits left out that no measure needs
        5,000  lines in 1 log of brokers, 4,980 of them of other loggers or APIs
           12  offsets gone by compaction or loss, in 1 input
  not decoded, see table undecoded: value too short (1 row)
            1  of 7 groups began before the log does, or lie in its holes: their history is not complete
  ERROR  rule I1 broken: 1 time, see table anomalies
  INFO   rule I9 broken: 2 times, see table anomalies"""

BLOCKERS = tuple(
    Blocker(f"mixed-{each}", None, f"app-{each}", "/10.0.0.1") for each in ("0", "1", "2")
)

SUMMARY = NightSummary(
    cluster="prod",
    logical_date=NIGHT,
    as_of_ms=AS_OF_MS,
    migration=Migration(
        phases=(
            PhaseGroups("CLASSIC", 1, 2, 0, 0, 0),
            PhaseGroups("CONSUMER", 1, 1, 1, 0, 1),
            PhaseGroups("EMPTY", 1, 0, 0, 0, 0),
            PhaseGroups("MIGRATED", 1, 3, 3, 0, 0),
            PhaseGroups("MIGRATING", 1, 5, 1, 1, 0),
            PhaseGroups("NATIVE", 1, 2, 2, 0, 0),
            PhaseGroups("NOT_APPLICABLE", 1, 4, 0, 0, 0),
        ),
        half_way=(HalfWayGroup("mixed", "payments", 33.3, SINCE_MS, 190_800_000, BLOCKERS, 4),),
        classic_clients=(
            ClassicClient("app-0", 2, "mixed"),
            ClassicClient("app-1", 2, "mixed"),
            ClassicClient("app-2", 1, "mixed"),
            ClassicClient("app-3", 1, "mixed"),
        ),
    ),
    hand_overs=HandOvers(
        outcomes=(
            OutcomePartitions("ACKED", 3),
            OutcomePartitions("FENCED", 3),
            OutcomePartitions("OPEN", 1),
        ),
        acked_half_ms=200,
        acked_99_pct_ms=300,
        slowest=(
            SlowRequest(
                group_id="orders",
                team="orders-team",
                member_id="m-slow",
                client_id="slow-app",
                client_host="/10.0.0.9",
                requested_at_ms=AS_OF_MS,
                outcome="FENCED",
                partitions=3,
                topic="t",
                revoke_ms=45_300,
                unowned_ms=210,
            ),
            SlowRequest(
                group_id="orders",
                team=None,
                member_id="m-quick",
                client_id=None,
                client_host=None,
                requested_at_ms=AS_OF_MS,
                outcome="ACKED",
                partitions=3,
                topic="clicks",
                revoke_ms=300,
                unowned_ms=None,
            ),
        ),
    ),
    stuck=Stuck(
        reasons=(
            ReasonEpisodes("HANDOVER_BOUNCED", 1, 0),
            ReasonEpisodes("MIGRATION_STALLED", 1, 0),
            ReasonEpisodes("WAITING_ON_HOLDER", 1, 0),
            ReasonEpisodes("FENCE_LOOP", 0, 1),
            ReasonEpisodes("SLOW_REVOCATION", 0, 1),
        ),
        episodes=(
            StuckEpisode(
                group_id="mixed",
                team=None,
                member_id=None,
                client_id=None,
                client_host=None,
                reason="MIGRATION_STALLED",
                since_at_ms=SINCE_MS,
                stuck_ms=190_800_000,
                is_open=True,
                blocked_by=(),
                repetitions=None,
            ),
            StuckEpisode(
                group_id="bouncing",
                team=None,
                member_id=None,
                client_id=None,
                client_host=None,
                reason="HANDOVER_BOUNCED",
                since_at_ms=AS_OF_MS - 900_000,
                stuck_ms=900_000,
                is_open=True,
                blocked_by=(),
                repetitions=3,
            ),
            StuckEpisode(
                group_id="orders",
                team="orders-team",
                member_id="m-wait",
                client_id=None,
                client_host=None,
                reason="WAITING_ON_HOLDER",
                since_at_ms=AS_OF_MS - 30_000,
                stuck_ms=30_000,
                is_open=True,
                blocked_by=("m-slow",),
                repetitions=None,
            ),
            StuckEpisode(
                group_id="loop\n",
                team=None,
                member_id="m",
                client_id="c",
                client_host=None,
                reason="FENCE_LOOP",
                since_at_ms=AS_OF_MS,
                stuck_ms=200_000,
                is_open=False,
                blocked_by=(),
                repetitions=4,
            ),
            StuckEpisode(
                group_id="orders",
                team=None,
                member_id="m-slow",
                client_id="slow-app",
                client_host=None,
                reason="SLOW_REVOCATION",
                since_at_ms=AS_OF_MS,
                stuck_ms=45_300,
                is_open=False,
                blocked_by=(),
                repetitions=None,
            ),
        ),
    ),
    streams=Streams(
        apps=(
            StreamsApps("classic", 2, 3, 5, 10, 2, 1),
            StreamsApps("streams", 1, 2, 2, 3, 0, 0),
        ),
        misplaced=(MisplacedApp("swap", "payments", 5, 2, "PROBING", AS_OF_MS + 50_000),),
        learners=(
            Learner("swap", "payments", "0_3", "swap-2", "/10.0.0.2", AS_OF_MS - 180_000, 2),
            Learner("swap", "payments", "0_4", None, None, AS_OF_MS, None),
        ),
        learners_total=2,
        moves=(
            MovedTasks(None, "OPEN", 1),
            MovedTasks("COLD", "OWNER_GONE", 1),
            MovedTasks("WARMED", "RETURNED", 1),
            MovedTasks("WARMED", "TRANSFERRED", 1),
        ),
        idlest=(
            IdleTask("swap", "payments", "0_2", "COLD", "OWNER_GONE", 47_000),
            IdleTask("swap", "payments", "0_1", "WARMED", "RETURNED", 1_265),
            IdleTask("swap", "payments", "0_0", "WARMED", "TRANSFERRED", 960),
        ),
        loops=(StreamsLoop("bouncing", None, "HANDOVER_BOUNCED", AS_OF_MS - 900_000, 3),),
    ),
    decisions=Decisions(
        tiers=(
            TierGroups(0, 1),
            TierGroups(1, 1),
            TierGroups(2, 2),
            TierGroups(3, 1),
            TierGroups(None, 1),
        ),
        flips=(
            FlipGroup("known", "payments", 1, 9, "range", ()),
            FlipGroup("small", None, 2, 6, "range", ("R8",)),
            FlipGroup("big", None, 2, 60, "range", ()),
        ),
        wave=CostlyWave("a", None, "ROLLOUT", AS_OF_MS - 3_600_000, 3, 3, 9, 12_300, True),
        worst=WorstGroup("a", None, 98.5, 96.0),
    ),
    seen=Seen(
        coverage=Coverage(
            inputs=2,
            inputs_with_holes=1,
            landed=1000,
            decoded=1000,
            undecoded=1,
            reduced=5000,
            holes=12,
        ),
        broker_logs=BrokerLogs(inputs=1, lines=5000, others=4980),
        undecoded=(UndecodedRows("value too short", 1),),
        broken_rules=(BrokenRule("ERROR", "I1", 1), BrokenRule("INFO", "I9", 2)),
    ),
)
