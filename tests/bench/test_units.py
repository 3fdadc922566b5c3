"""What the bench makes of its runs: costs of single records, and of a day."""

from __future__ import annotations

import pytest

from tests.bench.generate import PARTITIONS
from tests.bench.segments import SEGMENT_BYTES
from tests.bench.units import RESOURCES, Used, day_of_files, planning, table, unit_costs


def _used(commits: int, others: int) -> Used:
    """Where a commit costs 2 and any other record 50 of all there is, beside 1,000."""
    amount = 1_000.0 + 2 * commits + 50 * others
    return Used(commits + others, commits, (amount,) * len(RESOURCES))


def test_a_commit_and_another_record_are_told_apart_by_two_logs() -> None:
    churn, steady = (_used(80, 20), _used(800, 200)), (_used(99, 1), _used(9_900, 100))
    for commit, other in unit_costs([churn, steady]):
        assert commit == pytest.approx(2)
        assert other == pytest.approx(50)


def test_two_logs_of_one_kind_tell_nothing() -> None:
    churn = (_used(80, 20), _used(800, 200))
    with pytest.raises(ValueError, match="80% and 80% commits"):
        unit_costs([churn, churn])


def test_a_day_is_the_costs_times_its_records() -> None:
    """10^11 commits of 100 bytes and 1 us each; 10^8 other records of 200 bytes and 36 us."""
    costs = [(100.0, 200.0), (1e-6, 36e-6), *[(0.0, 0.0)] * 4]
    lines = table(costs)
    assert "| log | 100 bytes | 200 bytes | 10.00 TB | 20.00 GB |" in lines
    assert "| CPU time of Python | 1 us | 36 us | 27.8 core hours | 1.0 core hours |" in lines


def test_files_of_a_day_are_planned_one_a_unit() -> None:
    files = day_of_files(3.5 * PARTITIONS * SEGMENT_BYTES)
    assert len(files) == 3 * PARTITIONS
    assert len({(each.offsets_partition, each.base_offset) for each in files}) == len(files)
    assert f"planning {3 * PARTITIONS:,} segments: " in planning(files)
    assert f"{3 * PARTITIONS:,} units in {3 * PARTITIONS:,} tasks" in planning(files)
