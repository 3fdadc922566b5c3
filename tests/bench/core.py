"""What the compiled core is worth: the pure parts of one log on one core, interpreted and compiled in
turns.

    python -m tests.bench.core [--records 500000] [--turns 3] [--case churn]

Prints a row of docs/benchmarks.md for each part: medians of records per CPU second. Both must tell
the same facts, else it ends with 1.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from groupreplay.compiled_core import VARIABLE
from tests.bench.generate import generate

ROOT = Path(__file__).parents[2]
_RATE = re.compile(r"^(.+?) +[\d,]+ records +[\d.]+ s +([\d,]+) records/s", re.M)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures the compiled core.")
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--case", default="churn")
    options = parser.parse_args()
    rates: dict[str, dict[str, list[int]]] = {}
    facts = set()
    with tempfile.TemporaryDirectory(prefix="core-") as folder:
        generate(options.case, options.records, Path(folder), options.records // 400)
        for _ in range(options.turns):
            for core in ("0", "1"):
                said = _measured(folder, core)
                facts.add(said.splitlines()[-1])
                for part, rate in _RATE.findall(said):
                    turn = rates.setdefault(part, {}).setdefault(core, [])
                    turn.append(int(rate.replace(",", "")))
    for part, of in rates.items():
        interpreted, compiled = median(of["0"]), median(of["1"])
        print(f"| {part} | {interpreted:,.0f} | {compiled:,.0f} | {compiled / interpreted:.2f} |")
    return len(facts) != 1


def _measured(folder: str, core: str) -> str:
    """What `tests.bench.parse` prints."""
    shown = "from groupreplay.compiled_core import running; print(running())"
    environment = {**os.environ, VARIABLE: core, "PYTHONPATH": f"{ROOT / 'lib'}:{ROOT}"}
    how = {"cwd": ROOT, "env": environment, "check": True, "stdout": subprocess.PIPE, "text": True}
    running = subprocess.run([sys.executable, "-c", shown], **how).stdout  # type: ignore[call-overload]
    if not running.startswith("interpreted" if core == "0" else "compiled"):
        raise SystemExit(f"nothing to compare: the core is {running.strip()}")
    measured = [sys.executable, "-m", "tests.bench.parse", folder]
    return str(subprocess.run(measured, **how).stdout)  # type: ignore[call-overload]


if __name__ == "__main__":
    sys.exit(main())
