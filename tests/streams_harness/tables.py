"""A worked example as a table of docs/learner-tasks.md, a row each generation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.yaml_text import safe_load

SCENARIOS = Path(__file__).parents[1] / "scenarios" / "streams"
HEAD = "| generation | runs | learns, or keeps ready | taken, and owed to | next |\n|---|---|---|---|---|"


def table(name: str) -> str:
    """Markdown. name: of a scenario."""
    decided = safe_load((SCENARIOS / f"{name}.yaml").read_text())["decided"]
    return "\n".join([HEAD, *map(_row, decided)])


def _row(one: dict[str, Any]) -> str:
    cells = (
        f"{one['generation']} {one['cause']}",
        _held(one["active"], keep_empty=True),
        ", ".join(
            part
            for part in (_held(one["warmup"]), _named("standby", _held(one["standby"])))
            if part
        ),
        _taken(one),
        _next(one),
    )
    return "| " + " | ".join(cells) + " |"


def _task(text: str) -> str:
    """T1 for 0_0, U1 for 1_0."""
    subtopology, _, partition = text.partition("_")
    return f"{'TU'[int(subtopology)]}{int(partition) + 1}"


def _held(by_process: dict[str, list[str]], keep_empty: bool = False) -> str:
    return " ".join(
        f"{process}[{','.join(map(_task, tasks))}]"
        for process, tasks in sorted(by_process.items())
        if tasks or keep_empty
    )


def _named(name: str, text: str) -> str:
    return f"{name} {text}" if text else ""


def _taken(one: dict[str, Any]) -> str:
    owners = {each: process for process, its in one["revoked"].items() for each in its}
    receivers = {each: process for process, its in one["owed"].items() for each in its}
    return ", ".join(
        f"{_task(each)}: {owners[each]} -> {receivers.get(each, '?')}" for each in sorted(owners)
    )


def _next(one: dict[str, Any]) -> str:
    words = ["FOLLOWUP"] if "FOLLOWUP" in one["next"].values() else []
    return ", ".join([*words, *(["PROBING"] if one["probing"] else [])])
