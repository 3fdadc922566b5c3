"""The documents are in step with the code: rules, tables, columns, views and configuration keys."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from groupreplay.config.sources import SOURCE_KINDS
from groupreplay.limits import MAX_CHAIN_GAP_MS, MIN_STALL_MS
from groupreplay.replay.rules.rule_table import DETAILS, RULES
from groupreplay.report.stuck.episodes import (
    CHAIN_THRESHOLDS,
    COUNT_THRESHOLDS,
    STALL_THRESHOLDS,
)
from groupreplay.report.tables.anomalies import (
    CLOCK_JUMP,
    LATE_RECORDS,
    REPLICA_CONFLICT,
    TOPIC_RECREATED,
)
from groupreplay.report.words.sentences import SOURCE_DETAILS, STUCK_DETAILS
from groupreplay.tables.schemas import INTERNAL
from groupreplay.tables.views import VIEWS
from tests.support.base_config import load_base
from tests.support.documents import schema_columns, text
from tests.support.yaml_text import safe_load

OTHER_RULES: Final = (
    REPLICA_CONFLICT,
    CLOCK_JUMP,
    LATE_RECORDS,
    TOPIC_RECREATED,
    "GROUP_IN_TWO_PARTITIONS",
    "NEGATIVE_DURATION",
)
"""Rules that are not of the protocol."""


def test_rules_are_those_of_the_code() -> None:
    rows = {
        row[0]: row[1]
        for row in re.findall(
            r"^\| `(\w+)` \| (ERROR|WARN|INFO) \|", text("docs/rules.md"), re.MULTILINE
        )
    }
    assert {name: severity for name, severity in rows.items() if name not in OTHER_RULES} == {
        rule.name: rule.severity for rule in RULES.values()
    }
    assert rows.keys() >= set(OTHER_RULES)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_every_rule_has_a_section(rule: Any) -> None:
    assert f"### {rule.name}\n" in text("docs/rules.md")


def test_codes_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| `(\w+)` \| `(\w+)` \| `(.*)` \|$", text("docs/rules.md"), re.MULTILINE)
    assert {code: sentence for code, _, sentence in rows} == {**DETAILS, **SOURCE_DETAILS}
    rules = {rule.name for rule in RULES.values()} | set(OTHER_RULES)
    assert {rule for _, rule, _ in rows} == rules


def test_codes_of_what_is_stuck_are_those_of_the_code() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| ([A-Z_, ]+) \| `(.*)` \|$", text("docs/measures.md"), re.MULTILINE
    )
    wanted = {
        code: said if isinstance(said, str) else said[0].join(f"[{each}]" for each in said[1:])
        for code, said in STUCK_DETAILS.items()
    }
    assert {code: said for code, _, said in rows} == wanted
    assert {each for _, of, _ in rows for each in of.split(", ")} <= {
        *STALL_THRESHOLDS,
        *CHAIN_THRESHOLDS,
        *COUNT_THRESHOLDS,
    }


@pytest.mark.parametrize("table", schema_columns())
def test_every_table_is_explained(table: str) -> None:
    document = text("docs/tables.md")
    if table in INTERNAL:
        assert f"`{table}`" in document
    else:
        assert f"## {table}\n" in document


def test_every_view_is_listed() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]* \|$", text("docs/sql.md"), re.MULTILINE)
    assert sorted(rows) == list(VIEWS)


EXPLAINING: Final = ("docs/measures.md", "docs/evidence.md", "docs/streams.md", "docs/tables.md")
"""Where columns are explained."""


@pytest.mark.parametrize("table", [table for table in schema_columns() if table not in INTERNAL])
def test_every_column_is_explained(table: str) -> None:
    named = set(re.findall(r"`(\w+)`", "".join(map(text, EXPLAINING))))
    assert [column for column in schema_columns()[table] if column not in named] == []


@pytest.mark.parametrize(
    "reason", sorted({*STALL_THRESHOLDS, *COUNT_THRESHOLDS, *CHAIN_THRESHOLDS})
)
def test_every_reason_has_its_threshold_beside_it(reason: str) -> None:
    fields = [each[reason] for each in (STALL_THRESHOLDS, COUNT_THRESHOLDS) if reason in each]
    fields += CHAIN_THRESHOLDS.get(reason, ())
    row = next(
        line for line in text("docs/measures.md").splitlines() if line.startswith(f"| `{reason}` |")
    )
    assert [field for field in fields if f"`{field}`" not in row] == []


def configuration_rows() -> dict[str, str]:
    """key -> its default, of the tables with three columns."""
    return dict(
        re.findall(
            r"^\| `([\w.]+)` \| ([^|]*) \| [^|]* \|$", text("docs/configuration.md"), re.MULTILINE
        )
    )


def test_every_key_has_its_default_beside_it() -> None:
    rows = configuration_rows()
    keys: dict[str, Any] = {}
    for section, values in load_base().items():
        keys |= (
            {f"{section}.{key}": value for key, value in values.items()}
            if isinstance(values, dict)
            else {section: values}
        )
    assert rows["clients"] == "see below"
    assert yaml_of_clients() == keys.pop("clients")
    assert {key: rows.get(key, "not there").replace(",", "") for key in keys} == {
        key: "null" if v is None else str(v) for key, v in keys.items()
    }
    assert rows.keys() - keys.keys() == {"cluster", "warehouse", "sources", "clients"}


def yaml_of_clients() -> list[dict[str, str | None]]:
    """The default of `clients` as the document shows it, whole."""
    block = re.search(r"```yaml\n(clients:.*?)```", text("docs/configuration.md"), re.DOTALL)
    assert block is not None
    return [{"version_after": None} | each for each in safe_load(block[1])["clients"]]


def test_limits_of_keys_are_those_of_the_code() -> None:
    document = " ".join(text("docs/configuration.md").split())
    assert f"at least {MIN_STALL_MS:,} ms" in document
    assert f"at most {MAX_CHAIN_GAP_MS:,} ms" in document
    assert [kind for kind in SOURCE_KINDS if f"`{kind}`" not in document] == []
