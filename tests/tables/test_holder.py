"""Who holds a run, and whether that process still lives."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from groupreplay.tables import holder

ALIVE, GONE, SILENT = "", "its process is gone", "it gave no sign of life for 10 minutes"


@pytest.mark.parametrize(
    ("who", "age_ms", "why"),
    [
        (holder.this_process(), 0, ALIVE),
        (holder.this_process(), holder.DEAD_AFTER_MS + 1, SILENT),
        (holder.this_process().replace("@", "7@"), 0, GONE),
        (holder.this_process().replace(f":{os.getpid()}:", ":4194999:"), 0, GONE),
        ("elsewhere:1:1@1", 0, ALIVE),
        ("elsewhere:1:1@1", holder.DEAD_AFTER_MS + 1, SILENT),
        ("", 0, ALIVE),
    ],
    ids=[
        "own",
        "own_silent",
        "own_earlier_start",
        "own_gone",
        "elsewhere",
        "elsewhere_silent",
        "nobody",
    ],
)
def test_a_holder_is_dead_when_its_process_is_gone_or_silent(
    who: str, age_ms: int, why: str
) -> None:
    assert holder.why_dead(who, 1_000_000, 1_000_000 + age_ms) == why


def test_a_process_that_ended_is_gone() -> None:
    code = "from groupreplay.tables.holder import this_process; print(this_process())"
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert holder.why_dead(ended.stdout.strip(), 0, 0) == GONE


def test_another_namespace_of_processes_says_nothing_of_this_one() -> None:
    """A container has processes of the same numbers."""
    host, pid, start = holder.this_process().rsplit(":", 2)
    elsewhere = f"{host}:{pid}:{start.partition('@')[0]}@9"
    assert holder.why_dead(elsewhere.replace(f":{pid}:", ":4194999:"), 0, 0) == ALIVE
