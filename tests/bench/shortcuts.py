"""What each shortcut saves of a night: nights with all of them and without one, in turns.

    python -m tests.bench.shortcuts [--turns 5] [--config conf/demo.yaml]

Wall seconds of the whole job, as a user starts it: medians, and the difference to all.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from groupreplay.shortcuts import ALL, COMPILED_ZIPS, VARIABLE

ROOT = Path(__file__).parents[2]


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures the shortcuts.")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--config", default="conf/demo.yaml")
    options = parser.parse_args()
    # Zips are compiled when they are made, so that one is measured by set-ups of their own.
    cases = {"all": ALL} | {
        f"without {name}": tuple(each for each in ALL if each != name)
        for name in ALL
        if name != COMPILED_ZIPS
    }
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(options.turns):
        for name, on in cases.items():
            seconds[name].append(_night(options.config, ",".join(on)))
    usual = median(seconds["all"])
    for name, each in seconds.items():
        told = " ".join(f"{one:.1f}" for one in sorted(each))
        print(f"{name:<24} {median(each):6.1f} s  {median(each) - usual:+5.1f} s  ({told})")
    return 0


def _night(config: str, on: str) -> float:
    warehouse = Path(tempfile.mkdtemp(prefix="shortcuts-"))
    command = [str(ROOT / "spark-submit.sh"), "run_nightly", "--config", config]
    command += ["--set", f"warehouse={warehouse}"]
    began = time.monotonic()
    subprocess.run(
        command, cwd=ROOT, env={**os.environ, VARIABLE: on}, check=True, capture_output=True
    )
    took = time.monotonic() - began
    shutil.rmtree(warehouse)
    return took


if __name__ == "__main__":
    sys.exit(main())
