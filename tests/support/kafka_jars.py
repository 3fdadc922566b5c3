"""Kafka's jars for tests, by Spark's own resolver, once a folder; several processes may ask for the
same one at once.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
CACHE = ROOT / ".cache"


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Holds other processes off `folder` meanwhile; a process that dies lets go of it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(folder.parent / f"{folder.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def resolved(packages: str, folder: Path, without: str = "") -> Path:
    """The folder with the jars of `packages` and of what they need, filled where it has none.

    packages: group:artifact:version, several with commas. Offline, put the jars there by hand.
        Raises RuntimeError where the resolver fails.
    without: group:artifact, which `*` may stand in, of what is not needed after all.
    """
    with only_one(folder):
        if not any(folder.glob("*.jar")):
            _resolve(packages, folder, without)
    return folder


def _resolve(packages: str, folder: Path, without: str) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{folder.name}-") as scratch:
        nothing = Path(scratch) / "nothing.py"
        nothing.write_text("pass\n")
        bin_ = Path(sys.executable).parent
        settings = ["--conf", f"spark.jars.ivySettings={ROOT / 'conf/ivysettings.xml'}"]
        settings += ["--conf", f"spark.jars.ivy={scratch}/ivy", "--packages", packages]
        settings += ["--exclude-packages", without] if without else []
        environment = {**os.environ, "PATH": f"{bin_}:{os.environ['PATH']}"}
        command = [str(bin_ / "spark-submit"), *settings, str(nothing)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"Kafka's jars could not be fetched: {done.stderr[-2000:]}")
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(Path(scratch) / "ivy" / "jars", folder)
