"""Which commits of a stretch are kept: of each key the first and the last."""

from __future__ import annotations

from groupreplay.wire.segments.reduction.stretches import KEPT, Latest, Pending, Stretches
from groupreplay.wire.segments.row_origins import Origin

ORIGIN: Origin = (0, 1, 0, 0, -1, -1, "binary", True, -1)


def commit(offset: int) -> Pending:
    return ORIGIN, offset, 0, b"v"


class Told:
    """As the reduction does it: what `latest` has is set there, all else is met."""

    def __init__(self) -> None:
        self.stretches = Stretches()
        self.kept: list[int] = []

    def take(self, key: bytes, offset: int, latest: Latest | None = None, **more: bool) -> None:
        held = self.stretches.plain if latest is None else latest
        if key in held:
            held[key] = commit(offset)
        elif self.stretches.meet("g", key, held, commit(offset), more.get("is_open", False)):
            self.kept.append(offset)

    def end(self, group: str = "g") -> None:
        self.kept += [last[1] for _, last in self.stretches.end(group)]


def test_the_first_commit_of_a_stretch_and_the_last_are_kept() -> None:
    told = Told()
    for offset in range(5):
        told.take(b"foo-0", offset)
    told.end()
    assert told.kept == [0, 4]


def test_an_only_commit_is_kept_once() -> None:
    told = Told()
    told.take(b"foo-0", 3)
    told.end()
    assert told.kept == [3]


def test_each_key_has_its_own() -> None:
    told = Told()
    for offset, key in enumerate([b"foo-0", b"foo-1", b"foo-0", b"foo-1", b"foo-1"]):
        told.take(key, offset)
    told.end()
    assert told.kept == [0, 1, 2, 4]


def test_another_record_of_the_group_begins_another_stretch() -> None:
    told = Told()
    told.take(b"foo-0", 0)
    told.end()
    assert told.stretches.groups() == []
    told.take(b"foo-0", 1)
    assert told.kept == [0, 1]


def test_commits_of_transactions_have_stretches_of_their_own() -> None:
    """Their records do not name the topic's id, so the first of the others stays too."""
    told = Told()
    marked = told.stretches.marked
    told.take(b"foo-0", 0)
    told.take(b"foo-0", 1, marked)
    told.take(b"foo-0", 2)
    told.take(b"foo-0", 3, marked)
    assert told.kept == [0, 1]
    told.end()
    assert sorted(told.kept) == [0, 1, 2, 3]


def test_a_key_that_a_transaction_commits_is_met_each_time() -> None:
    """It stands elsewhere until the transaction has ended, so no dict of open stretches has it."""
    told = Told()
    told.take(b"foo-0", 0)
    told.take(b"foo-0", 1)
    told.stretches.watch(b"foo-0")
    assert b"foo-0" not in told.stretches.plain
    told.take(b"foo-0", 2, is_open=True)
    assert b"foo-0" not in told.stretches.plain
    told.take(b"foo-0", 3)
    assert told.stretches.plain == {b"foo-0": commit(3)}
    assert told.kept == [0]
    told.end()
    assert told.kept == [0, 3]


def test_what_is_a_row_already_is_not_told_again() -> None:
    told = Told()
    told.take(b"foo-0", 0)
    assert told.stretches.plain == {b"foo-0": KEPT}
    assert told.stretches.end("g") == []
    assert told.stretches.end("a group without commits") == []
