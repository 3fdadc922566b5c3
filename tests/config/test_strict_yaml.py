"""YAML is read strictly, and what is wrong is named with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from groupreplay.config.strict_yaml import parse_yaml, read_text
from groupreplay.errors import ConfigError


def test_yaml_is_read() -> None:
    text = "a: {b: [1, two]}\nc: &x {d: 1}\ne: *x\n"
    assert parse_yaml(text, "c.yaml") == {"a": {"b": [1, "two"]}, "c": {"d": 1}, "e": {"d": 1}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\nb: 2\na: 3\n", "line 3: the key 'a' stands twice"),
        ("a:\n  b: 1\n  b: 1\n", "line 3: the key 'b' stands twice"),
        ("a: 1\n2026: 2\n", "line 2: a key must be a text, found 2026"),
        ("yes: 1\n", "line 1: a key must be a text, found True"),
        ("a: [1\n", "line 2: "),
        ("a: !!python/object:os.system {}\n", "line 1: "),
    ],
)
def test_what_is_wrong_is_named_by_file_and_line(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_yaml(text, "c.yaml")
    assert str(raised.value).startswith(f"c.yaml: {says}")


@pytest.mark.parametrize("text", ["[" * 1_200, "a: 2026-99-99\n", "a: \x00"])
def test_yaml_that_no_reader_takes_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^c\.yaml: "):
        parse_yaml(text, "c.yaml")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_text(str(path))
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="it is not UTF-8"):
        read_text(str(path))
    path.write_text("caf\u00e9", encoding="utf-8")
    assert read_text(str(path)) == "caf\u00e9"
