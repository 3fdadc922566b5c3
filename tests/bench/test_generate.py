"""The logs to measure with are real ones: they decode, they replay without a broken rule, and they
are what they are said to be.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from groupreplay.wire.segments.batch_records import parse_records
from tests.bench.generate import PARTITIONS, ZIPF_LEAST, generate, partition_of, zipf
from tests.bench.nights import Logs
from tests.bench.parse import decode_all, read, replay_all, rows_by_group
from tests.bench.segments import SHARED_MAX
from tests.bench.stories import batches_of

pytestmark = pytest.mark.long

SIZES = {
    "churn": (30_000, 60),
    "steady": (100_000, 50),
    "small": (10_000, 0),
    "skew": (30_000, 60),
    "zipf": (40_000, 500),
    "one-group": (300, 0),
    "wide": (200, 0),
}
NIGHTS, GROUPS = 5, 200


@pytest.fixture(scope="module", params=sorted(SIZES))
def log(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Path, dict[str, int]]:
    folder = tmp_path_factory.mktemp(request.param)
    return (
        request.param,
        folder,
        generate(request.param, SIZES[request.param][0], folder, SIZES[request.param][1]),
    )


def test_counts_and_share_of_commits(log: tuple[str, Path, dict[str, int]]) -> None:
    case, folder, counts = log
    records = [
        record
        for path in folder.glob("*/*.log")
        for batch in batches_of(path)
        for record in parse_records(batch)[0]
    ]
    commits = sum(
        1
        for record in records
        if record.key is not None and record.key[1] <= 1 and record.value is not None
    )
    assert len(records) == counts["records"]
    assert commits == counts["commits"]
    share = 1 - commits / len(records)
    expected = {
        "churn": (0.17, 0.23),
        "steady": (0.005, 0.015),
        "small": (0.1, 0.4),
        "skew": (0.17, 0.3),
        "zipf": (0.17, 0.3),
        "one-group": (0.9, 1),
        "wide": (0.8, 1),
    }[case]
    assert expected[0] <= share <= expected[1]
    if case in ("churn", "steady", "small", "skew", "zipf"):
        assert counts["records"] == pytest.approx(SIZES[case][0], rel=0.1)


def test_parses_decodes_and_replays(log: tuple[str, Path, dict[str, int]]) -> None:
    _, folder, counts = log
    landed = read(folder)
    kinds = {kind for columns in landed for kind in columns["kind"]}
    assert kinds == {"record", "unit"}
    units = [
        json.loads(detail)
        for columns in landed
        for kind, detail in zip(columns["kind"], columns["detail"], strict=True)
        if kind == "unit"
    ]
    assert sum(unit["records"] for unit in units) == counts["records"]
    assert sum(unit["holes"] for unit in units) == 0
    rows = rows_by_group(landed)
    assert len({row[0] for row in rows}) == counts["groups"]
    assert all(partition == partition_of(group) for group, partition, *_ in rows)
    facts = replay_all(decode_all(rows))
    assert not [name for name in facts if name.startswith("I") and name[1].isdigit()]


@pytest.mark.parametrize(
    ("kind", "share", "waiting"), [("steady", (0.005, 0.015), 0), ("churn", (0.17, 0.23), 1)]
)
def test_a_log_that_grows_by_nights_has_no_holes_and_breaks_no_rule(
    tmp_path: Path, kind: str, share: tuple[float, float], waiting: int
) -> None:
    """Long enough for groups to be deleted and to begin anew.

    share: of records that are no commits, after the first night.
    waiting: new groups that have not yet saved up for their long story.
    """
    logs = Logs.begun(tmp_path, kind)
    written, others = [], []
    for night in range(NIGHTS):
        folder, count = logs.add_night(night, 60_000, GROUPS)
        records = [
            record
            for path in folder.glob("*/*.log")
            for batch in batches_of(path)
            for record in parse_records(batch)[0]
        ]
        written.append(count)
        others.append(
            sum(
                1
                for record in records
                if record.key is None or record.key[1] > 1 or record.value is None
            )
        )
    assert share[0] <= sum(others[1:]) / sum(written[1:]) <= share[1]
    assert len(logs.groups) == GROUPS + 2 * (NIGHTS - 1)
    landed = read(logs.whole)
    units = [
        json.loads(detail)
        for columns in landed
        for kind, detail in zip(columns["kind"], columns["detail"], strict=True)
        if kind == "unit"
    ]
    assert (
        sum(unit["records"] for unit in units)
        == sum(written)
        == pytest.approx(NIGHTS * 60_000, rel=0.1)
    )
    assert sum(unit["holes"] for unit in units) == 0
    rows = rows_by_group(landed)
    assert len({row[0] for row in rows}) == GROUPS + 2 * (NIGHTS - 1) - waiting
    assert sum(row[-1] is None for row in rows) > 0
    assert not [
        name for name in replay_all(decode_all(rows)) if name.startswith("I") and name[1].isdigit()
    ]


def records_by_group(folder: Path) -> list[int]:
    """Of each group, most first."""
    found: Counter[bytes] = Counter()
    for path in folder.glob("*/*.log"):
        for batch in batches_of(path):
            for record in parse_records(batch)[0]:
                assert record.key is not None
                length = int.from_bytes(record.key[2:4], "big")
                found[record.key[4 : 4 + length]] += 1
    return [count for _, count in found.most_common()]


def test_one_group_has_a_third_of_all_records(tmp_path: Path) -> None:
    counts = generate("skew", 30_000, tmp_path, 60)
    largest, second, *_ = records_by_group(tmp_path)
    assert largest / counts["records"] == pytest.approx(1 / 3, rel=0.05)
    assert second < largest / 20


def test_sizes_fall_as_ranks_rise(tmp_path: Path) -> None:
    """The k-th group has 1/k of the largest, until the least that a group begins with."""
    generate("zipf", 40_000, tmp_path, 500)
    sizes = records_by_group(tmp_path)
    assert len(sizes) == 500
    for rank in (2, 4, 8, 16):
        assert sizes[rank - 1] == pytest.approx(sizes[0] / rank, rel=0.1)
    assert sizes[-1] >= ZIPF_LEAST
    assert sizes[300] < 5 * ZIPF_LEAST
    assert sum(zipf(2_000_000, 50_000)) == pytest.approx(2_000_000, rel=0.01)
    with pytest.raises(ValueError, match="10,000 records"):
        zipf(9_999, 500)


def test_same_arguments_give_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "other"):
        generate("steady", 20_000, tmp_path / name, 10)
    one, other = (
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).glob("*/*.log")
        }
        for name in ("one", "other")
    )
    assert one == other


def test_commits_of_several_groups_share_batches(tmp_path: Path) -> None:
    counts = generate("steady", 100_000, tmp_path, 50)
    assert 10 <= counts["records"] / counts["batches"] <= SHARED_MAX


def test_partition_is_that_of_java() -> None:
    """String.hashCode of both is Integer.MIN_VALUE and 96354 in Java."""
    assert partition_of("polygenelubricants") == 0
    assert partition_of("abc") == 96354 % PARTITIONS
