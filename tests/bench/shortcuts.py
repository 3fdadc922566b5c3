"""What each shortcut saves of a night: nights with all of them and without one, in turns.

    python -m tests.bench.shortcuts [--turns 5] [--config conf/demo.yaml]
    python -m tests.bench.shortcuts --zips [--turns 5]

Wall seconds of the whole job, as a user starts it: medians, and the difference to all. With --zips
what compiled-zips saves: CPU seconds of one process that imports from zips with and without what
Python compiles their modules to. A night starts one driver, and a daemon of workers an executor.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from zipfile import ZIP_DEFLATED, ZipFile

import pyspark

from groupreplay.shortcuts import ALL, COMPILED_ZIPS, VARIABLE

ROOT = Path(__file__).parents[2]
PROCESSES = {
    "daemon of workers": "import pyspark.daemon, pyspark.worker",
    "driver, PySpark": "import pyspark.sql.functions",
    "driver, PySpark and the job": "import groupreplay.cli.job_session, groupreplay.night.run",
}


def main() -> int:
    parser = argparse.ArgumentParser(description="Measures the shortcuts.")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--config", default="conf/demo.yaml")
    parser.add_argument("--zips", action="store_true", help="measure compiled-zips instead")
    options = parser.parse_args()
    if options.zips:
        return _measure_zips(options.turns)
    # Zips are compiled when they are made, so that one is measured by --zips.
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


def _measure_zips(turns: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for case, named in (("with", COMPILED_ZIPS), ("without", "")):
            zips = _zips(Path(folder, case))
            subprocess.run(
                [ROOT / ".ci/compile_zips", *zips], env=os.environ | {VARIABLE: named}, check=True
            )
            paths[case] = os.pathsep.join(map(str, zips))
        for process, program in PROCESSES.items():
            seconds: dict[str, list[float]] = {case: [] for case in paths}
            for _ in range(turns):
                for case, path in paths.items():
                    seconds[case].append(_cpu_seconds(program, path))
            found = ", ".join(f"{case} {median(each):.2f} s" for case, each in seconds.items())
            print(f"{process:<28} {found}")
    return 0


def _zips(folder: Path) -> list[Path]:
    """The zips that a night imports from, with sources alone."""
    folder.mkdir()
    zips = [folder / "groupreplay.zip"]
    zipped = [sys.executable, "-m", "zipfile", "-c", str(zips[0]), "groupreplay"]
    subprocess.run(zipped, cwd=ROOT / "lib", check=True)
    for made in Path(str(pyspark.__file__)).parent.glob("python/lib/*.zip"):
        zips.append(folder / made.name)
        with ZipFile(made) as known, ZipFile(zips[-1], "w", ZIP_DEFLATED) as plain:
            for name in known.namelist():
                if not name.endswith((".pyc", "/")):
                    plain.writestr(name, known.read(name))
    return zips


def _cpu_seconds(program: str, path: str) -> float:
    variables = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", program], env=os.environ | variables, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


if __name__ == "__main__":
    sys.exit(main())
