"""What errors of Spark and Delta mean: which table is damaged, and that a disk is full."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

from groupreplay.errors import NoSpace, NotReady, WarehouseDamaged
from groupreplay.state_codec import StateError
from groupreplay.tables.delta.damage import (
    damage_of,
    damaged_table,
    guarded,
    is_state_error,
    lack_of_space,
)


def spark_error(text: str) -> PySparkException:
    return PySparkException(message=text)


MISSING = "a data file that its log names is missing"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[DELTA_FILE_NOT_FOUND_DETAILED] File /w/members/cluster=c/a.parquet", MISSING),
        ("[FAILED_READ_FILE.FILE_NOT_EXIST] /w/members/cluster=c/a", MISSING),
        ("[CANNOT_READ_FILE_FOOTER] /w/members/cluster=c/a", "a data file cannot be read"),
        (
            "[DELTA_VERSIONS_NOT_CONTIGUOUS] /w/members/_delta_log/3.json",
            "a file of its log is missing",
        ),
        ("JsonParseException: /w/members/_delta_log/3.json", "its log cannot be read"),
        ("[PATH_NOT_FOUND] /w/members/_delta_log/", "it is not there"),
    ],
)
def test_a_path_in_the_error_names_the_table(text: str, why: str) -> None:
    damage = damaged_table(spark_error(text))
    assert damage is not None
    assert (damage.table, damage.why) == ("members", why)
    assert damage.remedy.startswith("restore /w/members from a copy")


def test_a_table_that_is_read_while_another_is_written_is_the_damaged_one() -> None:
    error = spark_error("[DELTA_FILE_NOT_FOUND] file:/w/topics/cluster=c/a")
    damage = damaged_table(error, "/other", "members")
    assert damage is not None
    assert damage.table == "topics"
    assert "/w/topics" in damage.remedy


def test_without_a_path_it_is_the_table_that_was_used_if_any_was() -> None:
    error = spark_error("[DELTA_FILE_NOT_FOUND] somewhere")
    assert damaged_table(error) is None
    damage = damaged_table(error, "/w", "members")
    assert damage is not None
    assert damage.table == "members"


def test_a_path_of_no_table_names_none() -> None:
    assert damaged_table(spark_error("[DELTA_FILE_NOT_FOUND] /w/orders/cluster=c/a")) is None


def test_other_errors_are_about_something_else() -> None:
    assert damaged_table(spark_error("[DIVIDE_BY_ZERO] /w/members/cluster=c/a")) is None
    assert (
        damaged_table(ValueError("DELTA_FILE_NOT_FOUND /w/members/_delta_log/"), "/w", "x") is None
    )


@pytest.mark.parametrize("text", ["No space left on device", "Disk quota exceeded"])
def test_a_full_disk_is_found_wherever_it_stands(text: str) -> None:
    """Java puts the cause last, below traces of any length."""
    space = lack_of_space(spark_error("at a.B\n" * 9_000 + text), "members")
    assert space is not None
    assert "the table members" in str(space)
    assert "what the job writes" in str(lack_of_space(OSError(28, text)))
    assert lack_of_space(ValueError(text)) is None
    assert lack_of_space(spark_error("full of errors")) is None


def test_a_state_that_no_worker_could_read_is_known_by_its_traceback() -> None:
    assert is_state_error(spark_error(f"groupreplay.state_codec.{StateError.__name__}: newer"))
    assert not is_state_error(spark_error("ValueError"))
    assert not is_state_error(StateError("newer"))


def test_errors_inside_become_what_they_mean() -> None:
    with (
        pytest.raises(WarehouseDamaged, match="the table members is damaged"),
        guarded("/w", "members"),
    ):
        raise spark_error("[DELTA_FILE_NOT_FOUND]")
    with pytest.raises(NoSpace), guarded("/w", "members"):
        raise spark_error("No space left on device")
    with pytest.raises(NotReady), guarded("/w", "members"):
        raise NotReady("DELTA_FILE_NOT_FOUND", "No space left on device")
    with pytest.raises(ZeroDivisionError), guarded("/w", "members"):
        raise ZeroDivisionError


def test_the_remedy_names_the_table_s_folder() -> None:
    assert str(damage_of("/w", "members", "it is not there")) == (
        "the table members is damaged: it is not there; restore /w/members from a copy, or move it"
        " aside and rerun the first night that it should hold"
    )
