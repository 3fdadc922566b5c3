"""The scenario files of `tests/scenarios/wire`: bytes, and text where the dump tool printed some,
to what they are.

Keys of a case: at (what or where it is), key and value in hex (no value: a tombstone), json_key and
json_value, and one of record (class: fields), undecodable (the reason) or unknown_type.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.dump_json import decode_json
from groupreplay.wire.records.undecodable import Undecodable, UnknownType
from tests.support.yaml_text import safe_load

SCENARIOS = sorted((Path(__file__).parents[1] / "scenarios" / "wire").glob("*.yaml"))
KNOWN = {"at", "key", "value", "json_key", "json_value", "record", "undecodable", "unknown_type"}
STREAMS = {"streams", "streams_error"}


def plain(value: Any) -> Any:
    """Dataclasses as dicts, tuples as lists, bytes as hex. What members of Kafka Streams alone have
    is left out of others.
    """
    if is_dataclass(value):
        of = {one.name: plain(getattr(value, one.name)) for one in fields(value)}
        return {name: one for name, one in of.items() if one is not None or name not in STREAMS}
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return value.hex() if isinstance(value, bytes) else value


def load(path: Path) -> list[Any]:
    scenario = safe_load(path.read_text(encoding="utf-8"))
    assert set(scenario) == {"why", "source", "cases"}
    return [pytest.param(case, id=f"{path.stem}: {case['at']}") for case in scenario["cases"]]


def check(case: dict[str, Any], result: object) -> None:
    if "record" in case:
        assert {type(result).__name__: plain(result)} == case["record"]
    elif "unknown_type" in case:
        assert result == UnknownType(case["unknown_type"])
    else:
        assert isinstance(result, Undecodable)
        assert result.reason == case["undecodable"]


@pytest.mark.parametrize("case", [case for path in SCENARIOS for case in load(path)])
def test_bytes_and_text_are_what_the_scenario_says(case: dict[str, Any]) -> None:
    assert set(case) <= KNOWN
    assert len({"record", "undecodable", "unknown_type"} & set(case)) == 1
    value = bytes.fromhex(case["value"]) if "value" in case else None
    check(case, decode(bytes.fromhex(case["key"]), value))
    if "json_key" in case:
        check(
            case,
            decode_json(
                case["json_key"].encode(),
                case["json_value"].encode() if "json_value" in case else None,
            ),
        )


def test_there_are_scenarios() -> None:
    assert len(SCENARIOS) == 4
