"""Units of a night, from files and watermarks."""

import random
from dataclasses import replace

import pytest

from groupreplay.sources.log_files import LogFile
from groupreplay.sources.planning import (
    TASK_BYTES,
    fingerprint,
    key_of,
    pack,
    plan_units,
    seen_after,
    unit_weight,
)
from groupreplay.sources.watermark import PartitionWatermark
from groupreplay.wire.segments.units import DUMP_LOG, NO_BOUND, SEGMENTS, Unit, UnitFile


def segment(
    base_offset: int,
    *,
    replica: str = "/logs/broker-1",
    partition: int = 7,
    size: int = 100,
    suffix: str = ".log",
) -> LogFile:
    path = f"{replica}/__consumer_offsets-{partition}/{base_offset:020d}{suffix}"
    return LogFile(SEGMENTS, path, size, replica, partition, base_offset)


def dump(name: str, partition: int = 7) -> LogFile:
    return LogFile(DUMP_LOG, f"/dumps/{name}", 10, f"/dumps/{name}", partition, -1)


def ranges(units: list[Unit]) -> list[tuple[int, int]]:
    return [(unit.start_offset, unit.end_offset) for unit in units]


def bases(unit: Unit) -> list[tuple[str, int]]:
    return [
        (file.replica.rsplit("/", 1)[1], int(file.path.rsplit("/", 1)[1][:20]))
        for file in unit.files
    ]


def test_first_night_reads_one_unit_a_segment() -> None:
    units = plan_units([segment(0), segment(100), segment(250)], {})
    assert ranges(units) == [(NO_BOUND, 100), (100, 250), (250, NO_BOUND)]
    assert [bases(unit) for unit in units] == [
        [("broker-1", 0)],
        [("broker-1", 100)],
        [("broker-1", 250)],
    ]
    assert {(unit.source, unit.input) for unit in units} == {("segments", "__consumer_offsets-7")}


def test_order_of_files_means_nothing() -> None:
    files = [
        segment(base, replica=replica, partition=partition)
        for base in (0, 40, 90)
        for replica in ("/a", "/b")
        for partition in (3, 11)
    ]
    shuffled = files[:]
    random.Random(7).shuffle(shuffled)
    assert plan_units(shuffled, {}) == plan_units(files, {})


def test_replicas_that_roll_elsewhere_go_with_every_unit_they_overlap() -> None:
    mine = [segment(base) for base in (0, 100, 200)]
    other = [segment(base, replica="/logs/broker-2") for base in (0, 150)]
    units = plan_units([*mine, *other], {})
    assert [bases(unit) for unit in units] == [
        [("broker-1", 0), ("broker-2", 0)],
        [("broker-1", 100), ("broker-2", 0), ("broker-2", 150)],
        [("broker-1", 200), ("broker-2", 150)],
    ]


def test_replica_that_reaches_further_back_is_in_the_first_unit() -> None:
    units = plan_units([segment(100), segment(200), segment(0, replica="/logs/broker-2")], {})
    assert ranges(units) == [(NO_BOUND, 200), (200, NO_BOUND)]
    assert bases(units[0]) == [("broker-1", 100), ("broker-2", 0)]


def test_next_night_goes_on_where_the_last_one_stopped_and_opens_no_older_segment() -> None:
    units = plan_units([segment(0), segment(100), segment(250)], {7: PartitionWatermark(130)})
    assert ranges(units) == [(130, 250), (250, NO_BOUND)]
    assert bases(units[0]) == [("broker-1", 100)]


def test_watermark_at_a_segment_s_base_leaves_the_older_out() -> None:
    units = plan_units([segment(0), segment(100)], {7: PartitionWatermark(100)})
    assert ranges(units) == [(100, NO_BOUND)]
    assert bases(units[0]) == [("broker-1", 100)]


def test_unchanged_files_give_no_unit_and_grown_ones_do() -> None:
    files = [segment(0), segment(100)]
    last = plan_units(files, {})[-1]
    landed = {7: PartitionWatermark(130, files=fingerprint(last))}
    assert plan_units(files, landed) == []
    assert ranges(plan_units([segment(0), segment(100, size=101)], landed)) == [(130, NO_BOUND)]
    assert ranges(plan_units([*files, segment(130)], landed)) == [(130, NO_BOUND)]
    assert ranges(plan_units(files, {7: PartitionWatermark(130)})) == [(130, NO_BOUND)], (
        "without a fingerprint they are read again"
    )


def late_of(units: list[Unit]) -> list[tuple[tuple[tuple[int, int], ...], list[tuple[str, int]]]]:
    return [(unit.holes, bases(unit)) for unit in units if unit.holes]


def test_a_segment_that_appears_where_something_was_missed_is_searched_once() -> None:
    files = [segment(100), segment(250)]
    last = plan_units(files, {})[-1]
    landed = PartitionWatermark(300, files=fingerprint(last), missing=((0, 100), (180, 190)))
    landed = replace(
        landed, seen=seen_after(files, landed, last.files + plan_units(files, {})[0].files)
    )
    assert set(landed.seen) == {key_of(files[0].path)}, (
        "what cannot hold any of it need not be remembered"
    )
    assert plan_units(files, {7: landed}) == []
    assert plan_units([segment(100, size=60), segment(250)], {7: landed}) == [], (
        "what compaction made shorter holds nothing new"
    )

    arrived = [segment(0), *files]
    (late,) = plan_units(arrived, {7: landed})
    assert (late.start_offset, late.end_offset, late_of([late])) == (
        0,
        190,
        [(landed.missing, [("broker-1", 0)])],
    )
    searched = replace(landed, seen=seen_after(arrived, landed, late.files))
    assert plan_units(arrived, {7: searched}) == []
    other = [*arrived, segment(0, replica="/logs/broker-2"), segment(400, replica="/logs/broker-2")]
    both = plan_units(other, {7: replace(searched, files="")})
    assert late_of(both) == [(landed.missing, [("broker-2", 0)])]
    assert ranges(both)[1:] == [(300, NO_BOUND)]


def test_a_segment_that_is_written_to_is_not_searched_again() -> None:
    landed = PartitionWatermark(300, missing=((180, 190),), seen={key_of(segment(100).path): 100})
    assert late_of(plan_units([segment(100, size=500)], {7: landed})) == []
    assert late_of(plan_units([segment(100, size=500), segment(300)], {7: landed})) == [
        (landed.missing, [("broker-1", 100)])
    ]


def test_without_holes_nothing_is_searched() -> None:
    assert (
        late_of(plan_units([segment(0), segment(100), segment(250)], {7: PartitionWatermark(300)}))
        == []
    )
    assert seen_after([segment(0)], PartitionWatermark(300), ()) == {}


def test_partition_with_a_dump_is_one_open_unit_of_all_files() -> None:
    units = plan_units(
        [segment(0), segment(100), dump("a.txt"), dump("b.txt.gz")], {7: PartitionWatermark(110)}
    )
    assert ranges(units) == [(110, NO_BOUND)]
    assert [file.path.rsplit("/", 1)[1] for file in units[0].files] == [
        f"{100:020d}.log",
        "a.txt",
        "b.txt.gz",
    ]
    assert units[0].source == "dump_log+segments"


def test_second_file_of_one_base_is_a_replica_of_its_own() -> None:
    (unit,) = plan_units([segment(0), segment(0, suffix=".log.gz")], {})
    assert len({file.replica for file in unit.files}) == 2


def test_units_survive_json() -> None:
    for unit in plan_units(
        [segment(0), segment(5, replica='/logs/"quoted"\nbroker-3'), dump("ä.txt", 9)], {}
    ):
        assert Unit.from_json(unit.to_json()) == unit


def unit_of(size: int, start: int = 0, name: str = "x.log") -> Unit:
    return Unit(
        0,
        start,
        NO_BOUND,
        (UnitFile(SEGMENTS, name, size, "r"),),
        "segments",
        "__consumer_offsets-0",
    )


def test_tasks_get_the_most_work_first_and_each_unit_once() -> None:
    units = [
        unit_of(size, start) for start, size in enumerate([10, TASK_BYTES, 5, 2 * TASK_BYTES, 7])
    ]
    tasks = pack(units, cores=2, weight=unit_weight)
    assert [[unit.start_offset for unit in task] for task in tasks] == [[3], [1], [2, 4], [0]]


@pytest.mark.parametrize(
    ("units", "cores", "tasks"), [(0, 2, 0), (1, 8, 1), (13, 2, 2), (13, 100, 13)]
)
def test_small_units_share_as_many_tasks_as_there_are_cores(
    units: int, cores: int, tasks: int
) -> None:
    packed = pack([unit_of(100, start) for start in range(units)], cores, unit_weight)
    assert len(packed) == tasks
    assert sorted(unit.start_offset for task in packed for unit in task) == list(range(units))


def test_gzip_counts_for_what_it_holds() -> None:
    tasks = pack([unit_of(100, 0), unit_of(100, 1, "x.log.gz")], cores=2, weight=unit_weight)
    assert [task[0].start_offset for task in tasks] == [1, 0]
