"""Topics files, good and bad."""

import json
from pathlib import Path

import pytest

from groupreplay.config.sources import Source
from groupreplay.errors import SourceUnreadable
from groupreplay.sources.given_topics import GivenTopic, read_topics


def read(path: Path) -> list[GivenTopic]:
    return read_topics([Source(kind="topics", path=str(path))])


def test_topics_are_read_and_other_keys_ignored(tmp_path: Path) -> None:
    rows = [
        {"topic_id": "b", "topic": "t/ü\n", "partitions": 3, "internal": False},
        {"topic_id": "a", "topic": "x"},
    ]
    (tmp_path / "topics.json").write_text(json.dumps(rows))
    assert read(tmp_path / "topics.json") == [
        GivenTopic("a", "x", None),
        GivenTopic("b", "t/ü\n", 3),
    ]


def test_later_file_wins(tmp_path: Path) -> None:
    for name in ("1.json", "2.json"):
        (tmp_path / name).write_text(json.dumps([{"topic_id": "a", "topic": name}]))
    assert [topic.topic for topic in read(tmp_path)] == ["2.json"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Expecting value"),
        ("[1, 2", "delimiter"),
        ("{}", "expected a list of topics, got dict"),
        ('["a"]', "item 0: expected an object"),
        ('[{"topic_id": "a", "topic": "x"}, {"topic": "x"}]', "item 1: expected texts"),
        ('[{"topic_id": "a", "topic": ""}]', "item 0: expected texts"),
        (
            '[{"topic_id": "a", "topic": "x", "partitions": [0, 1]}]',
            "expected a number of partitions",
        ),
        (
            '[{"topic_id": "a", "topic": "x", "partitions": true}]',
            "expected a number of partitions",
        ),
        ("[" * 100_000, "topics.json"),
        ("\x80", "topics.json"),
    ],
)
def test_anything_else_is_an_unreadable_source(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "topics.json").write_text(text, encoding="latin-1")
    with pytest.raises(SourceUnreadable) as caught:
        read(tmp_path / "topics.json")
    assert why in str(caught.value)
    assert str(tmp_path / "topics.json") in str(caught.value)
