"""What the pure core makes of this repository's recordings, as digests: run in two processes, they
say whether the compiled core and the interpreted one give the same.

    python -m tests.support.core_digests     prints JSON: which core ran, and its digests
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable
from pathlib import Path

from groupreplay.compiled_core import running
from groupreplay.wire.records.consumer_offsets import decode
from groupreplay.wire.records.dump_json import decode_json
from groupreplay.wire.segments.units import Unit
from tests.support.log_lines import recorded_evidence
from tests.support.recordings import REPOSITORY, groups
from tests.support.replaying import boundaries, fact_keys, replayed
from tests.wire.reading import open_path, recorded_units, rows_of

HOME = REPOSITORY / "tests/recordings"


def _digest(lines: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(sorted(lines)).encode("utf-8", "backslashreplace")).hexdigest()


def digests() -> dict[str, str]:
    """Rows of the segments and dumps, what they decode to, facts of the replay and of the lines of
    brokers; of every recording.
    """
    found = {}
    for path in sorted(each for each in HOME.iterdir() if (each / "recording.json").is_file()):
        found[f"{path.name} records"] = _digest(_records(path))
        found[f"{path.name} facts"] = _digest(_facts(path.name))
        found[f"{path.name} evidence"] = _digest(map(repr, recorded_evidence(path.name)))
    return found


def _records(path: Path) -> Iterable[str]:
    """Every row of segments and dumps, and what its record says."""
    for partition, kinds in recorded_units(path).items():
        for files, read in zip(kinds, (decode, decode_json), strict=True):
            unit = Unit(partition, -1, -1, files, "source", "input")
            for row in rows_of(unit, open_path):
                record = None if row["key"] is None else read(row["key"], row["value"])
                yield f"{row} {record}"


def _facts(recording: str) -> Iterable[str]:
    """By way of a state in the middle of each group."""
    for group in groups(recording):
        places = boundaries(group.entries)
        cuts = places[len(places) // 2 :][:1]
        facts = replayed(group.entries, group.names, cuts, group.group_id, group.offsets_partition)
        yield from (f"{group.group_id} {kind} {text}" for kind, text in fact_keys(facts).elements())


if __name__ == "__main__":
    json.dump({"core": running(), "digests": digests()}, sys.stdout)
