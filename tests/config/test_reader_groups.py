"""Keys about groups: which are replayed, their thresholds, their owners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from groupreplay.config.model import (
    Config,
    GroupsConfig,
    GroupThresholds,
    Owner,
)
from groupreplay.config.reader import load_config
from groupreplay.errors import ConfigError
from tests.config.conftest import GOOD


def test_groups_are_chosen_by_patterns(write: Any) -> None:
    config = load_config(write(GOOD + "groups: {include: [orders.*], exclude: ['*-test-?']}\n"))
    assert config.groups == GroupsConfig(include=("orders.*",), exclude=("*-test-?",))
    assert not Config(cluster="c", warehouse="w", sources=()).groups
    for text, key, says in [
        (
            "groups: {exclude: console-*}",
            "groups.exclude",
            "expected a list of patterns of group ids, found 'console-*'",
        ),
        ("groups: {exclude: [a, 7]}", "groups.exclude.1", "expected a text, found 7"),
        ("groups: {exclude: ['']}", "groups.exclude.0", "expected a text, found ''"),
        ("groups: {exlude: [a]}", "groups.exlude", "did you mean 'exclude'?"),
    ]:
        with pytest.raises(ConfigError) as caught:
            load_config(write(GOOD + text + "\n"))
        assert caught.value.key == key
        assert says in str(caught.value)


def test_thresholds_of_some_groups_differ(write: Any) -> None:
    text = (
        GOOD
        + "thresholds_by_group:\n- {pattern: batch-*, slow_revocation_ms: 60000, fence_loop_count:"
        " 9}\n- {pattern: '*', static_limbo_ms: 20000}\n"
    )
    assert load_config(write(text)).thresholds_by_group == (
        GroupThresholds(
            pattern="batch-*", limits={"slow_revocation_ms": 60_000, "fence_loop_count": 9}
        ),
        GroupThresholds(pattern="*", limits={"static_limbo_ms": 20_000}),
    )
    for wrong, key, says in [
        (
            text.replace("60000", "10"),
            "thresholds_by_group.0.slow_revocation_ms",
            "expected a whole number from 1000 to",
        ),
        (
            text.replace("static_limbo_ms", "static_limbo"),
            "thresholds_by_group.1.static_limbo",
            "did you mean 'static_limbo_ms'?",
        ),
        (
            text.replace("pattern: '*', ", ""),
            "thresholds_by_group.1",
            "expected a mapping with the key pattern",
        ),
        (
            GOOD + "thresholds_by_group: {pattern: a}\n",
            "thresholds_by_group",
            "expected a list of at most 200 mappings, found a mapping",
        ),
    ]:
        with pytest.raises(ConfigError) as caught:
            load_config(write(wrong))
        assert caught.value.key == key
        assert says in str(caught.value)


OWNERS = """
- {pattern: "orders.*", team: orders, contact: "#orders"}
- {pattern: "*", team: other}
"""


def test_owners_stand_in_a_file_of_their_own(write: Any, tmp_path: Path) -> None:
    file = tmp_path / "owners.yaml"
    file.write_text(OWNERS, encoding="utf-8")
    config = load_config(write(GOOD + f"owners: {file}\n"))
    assert config.owner_rules == (
        Owner(pattern="orders.*", team="orders", contact="#orders"),
        Owner(pattern="*", team="other"),
    )
    file.write_text(OWNERS.replace("other", "others"), encoding="utf-8")
    assert load_config(write(GOOD + f"owners: {file}\n")).config_hash != config.config_hash
    file.unlink()
    assert load_config(write(GOOD + f"owners: {file}\n"), only_reads=True).owner_rules == ()


@pytest.mark.parametrize(
    ("text", "key", "says"),
    [
        (None, "", "cannot be read: No such file or directory"),
        (
            "orders: x\n",
            "",
            "expected a list of {pattern: .., team: .., contact: ..}, found a mapping",
        ),
        ("- {pattern: a, team: [b]}\n", "0.team", "expected a text, found a list"),
        (
            OWNERS + "- {pattern: a, tam: b}\n",
            "2.tam",
            "there is no such key; did you mean 'team'?",
        ),
        (OWNERS + "- {pattern: a}\n", "2.team", "is missing, expected a text"),
        (OWNERS + "- a\n", "2", "expected a mapping of keys, found 'a'"),
        ("- {pattern: a, team: b\n", "", "line 2: "),
    ],
)
def test_owners_that_cannot_be_used_are_refused_by_file_and_key(
    write: Any, tmp_path: Path, text: str | None, key: str, says: str
) -> None:
    file = tmp_path / "owners.yaml"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(write(GOOD + f"owners: {file}\n"))
    assert (caught.value.file, caught.value.key) == (str(file), key)
    assert says in str(caught.value)
