"""The codec on classes of its own: what a class was, what it is, and what states of it become."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field, make_dataclass
from typing import Any

import pytest

from groupreplay.state_codec import Codec, Converters, FirstVersion, StateError, version_of

FIRST = FirstVersion(b"\x01", "0badcafe", {"Book": "title pages"})
WORDS = b'"Book":["title","pages"]'


@dataclass
class Chapter:
    name: str
    pages: int = 0


@dataclass
class Book:
    title: str
    pages: int = 1
    chapters: list[Chapter] = field(default_factory=list)
    longest: Chapter | None = None
    lent: dict[tuple[str, int], Chapter] = field(default_factory=dict)


BOOK = Book("t", 7, [Chapter("a", 3), Chapter("b")], Chapter("a", 3), {("x", 1): Chapter("c")})


def codec(
    root: type[Any] = Book,
    renamed: dict[str, str] | None = None,
    converters: Converters | None = None,
) -> Codec[Any]:
    return Codec(root, FIRST, WORDS, WORDS, renamed or {}, converters or {})


def test_a_value_comes_back() -> None:
    assert codec().from_bytes(codec().to_bytes(BOOK)) == BOOK
    assert codec().from_bytes(codec().to_bytes(Book("t"))) == Book("t")


def test_unknown_fields_and_classes_are_skipped() -> None:
    smaller = make_dataclass("Book", [("title", str), ("pages", int, 1)])
    assert codec(smaller).from_bytes(codec().to_bytes(BOOK)) == smaller("t", 7)


def test_missing_fields_take_their_default_and_order_does_not_count() -> None:
    smaller = make_dataclass("Book", [("pages", int), ("title", str)])
    assert codec().from_bytes(codec(smaller).to_bytes(smaller(7, "t"))) == Book("t", 7)


def test_a_missing_field_without_a_default_is_refused_in_one_sentence() -> None:
    smaller = make_dataclass("Book", [("pages", int)])
    with pytest.raises(StateError, match="^state with a Book without title$"):
        codec().from_bytes(codec(smaller).to_bytes(smaller(7)))


def test_only_classes_that_a_state_holds_count() -> None:
    nameless = make_dataclass("Chapter", [("pages", int)])
    other = make_dataclass("Book", [("title", str), ("longest", nameless | None, None)])
    assert codec().from_bytes(codec(other).to_bytes(other("t"))) == Book("t")
    with pytest.raises(StateError, match="^state with a Chapter without name$"):
        codec().from_bytes(codec(other).to_bytes(other("t", nameless(1))))


def test_a_class_may_be_renamed() -> None:
    section = make_dataclass("Section", [("name", str), ("pages", int, 0)])
    other = make_dataclass("Book", [("title", str), ("longest", section | None, None)])
    data = codec(other).to_bytes(other("t", section("a", 3)))
    assert codec(renamed={"Section": "Chapter"}).from_bytes(data).longest == Chapter("a", 3)


def books(version: int) -> type[Any]:
    """Of version 2 on, pages is a list."""
    pages: list[int] = field(default_factory=list, metadata=version_of(version))
    return make_dataclass("Book", [("title", str), ("pages", list[int], pages)])


CHANGED: Converters = {
    ("Book", "pages", 1): lambda pages, others: [pages or 1, len(others["title"])],
    ("Book", "pages", 2): lambda pages, others: [0, *(pages or [])],
}


@pytest.mark.parametrize(("old", "pages"), [(Book("t", 7), [7, 1]), (Book("tt"), [1, 2])])
def test_a_field_of_another_meaning_is_converted(old: Book, pages: list[int]) -> None:
    """Also where it had its default, which a state does not hold."""
    data = codec().to_bytes(old)
    assert codec(books(2), converters=CHANGED).from_bytes(data).pages == pages
    assert codec(books(3), converters=CHANGED).from_bytes(data).pages == pages


def test_each_version_of_a_field_has_its_converter() -> None:
    data = codec(books(2)).to_bytes(books(2)("t", [5]))
    assert codec(books(2), converters=CHANGED).from_bytes(data).pages == [5]
    assert codec(books(3), converters=CHANGED).from_bytes(data).pages == [0, 5]


def test_a_field_of_a_later_version_is_refused() -> None:
    data = codec(books(2)).to_bytes(books(2)("t"))
    with pytest.raises(StateError, match=r"^state with Book.pages of version 2, which newer code"):
        codec().from_bytes(data)


def first(*content: Any) -> bytes:
    return b"\x01" + zlib.compress(json.dumps(content).encode())


def test_states_of_version_1_are_read_by_the_names_that_were_kept() -> None:
    assert codec().from_bytes(first("0badcafe", [0, "t", 1, 9])) == Book("t", 9)
    with pytest.raises(StateError, match="^state of layout 0badc0de, known is 0badcafe$"):
        codec().from_bytes(first("0badc0de", [0, "t"]))
    with pytest.raises(StateError, match="^damaged state"):
        codec().from_bytes(first("0badcafe", [5, "t"]))


def test_equal_values_are_equal_bytes_whatever_was_written_before() -> None:
    one = codec()
    one.to_bytes(BOOK)
    assert one.to_bytes(Book("t")) == codec().to_bytes(Book("t"))


def test_damage_is_refused() -> None:
    data = codec().to_bytes(BOOK)
    for index in range(len(data)):
        with pytest.raises(StateError):
            codec().from_bytes(data[:index])
        with pytest.raises(StateError):
            codec().from_bytes(data[:index] + bytes([data[index] ^ 0x55]) + data[index + 1 :])
    with pytest.raises(StateError):
        codec().from_bytes(data + b"\0")
