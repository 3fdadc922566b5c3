"""Logs of brokers of which some are not there, as a night may be given them: one of a broker, all of
a broker, or a half of one that was rolled away or not copied yet."""

from __future__ import annotations

import gzip
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.support.log_lines import logs_in

WHOLE, GONE, FIRST_HALF, SECOND_HALF = "whole", "gone", "first half", "second half"
_LEFT: Final = (GONE, FIRST_HALF, SECOND_HALF)

Plan = Mapping[str, str]
"""Name of a log -> what is left of it."""


def plan_of(recording: Path, seed: int) -> Plan:
    """By a seed: all logs of one broker, or one log, and of another broker all are whole."""
    chance = random.Random(seed)
    names = [path.name for _, path in logs_in(recording)]
    chosen = chance.choice(names)
    broker = chosen.split(".")[0]
    lost = [each for each in names if each == chosen or (seed % 2 and each.startswith(broker))]
    left = chance.choice(_LEFT)
    return {each: left if each in lost else WHOLE for each in names}


def leave(recording: Path, plan: Plan, folder: Path) -> None:
    """What is left of each log, into a folder."""
    for _, path in logs_in(recording):
        left = plan[path.name]
        if left == WHOLE:
            (folder / path.name).symlink_to(path.resolve())
        elif left != GONE:
            data = read_log(path)
            half = data.index(b"\n", len(data) // 2) + 1
            _write(folder / path.name, data[half:] if left == SECOND_HALF else data[:half])


def read_log(path: Path) -> bytes:
    """Unpacked."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def _write(path: Path, data: bytes) -> None:
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
