"""A standalone cluster of Spark on this machine: a master and a worker, each a process of its own."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark

SPARK = Path(pyspark.__file__).parent
START_S = 90
_DEPLOY = "org.apache.spark.deploy"


@contextmanager
def standalone_cluster(place: Path, cores: int = 2, memory: str = "2g") -> Iterator[str]:
    """Gives the master's address, and ends both. They work and log below `place`.

    cores: what the worker offers, also where the machine has fewer.
    """
    port = _free_port()
    master = f"spark://127.0.0.1:{port}"
    environment = {**os.environ, "SPARK_DAEMON_MEMORY": "256m", "SPARK_LOCAL_IP": "127.0.0.1"}
    environment.pop("PYTHONPATH", None)
    environment.pop("GROUPREPLAY_COMPILED", None)
    here = ["--host", "127.0.0.1", "--webui-port", "0"]
    offers = ["--cores", str(cores), "--memory", memory, "-d", str(place / "work")]
    commands = {
        "Starting Spark master": [f"{_DEPLOY}.master.Master", *here, "--port", str(port)],
        "Successfully registered with master": [f"{_DEPLOY}.worker.Worker", *here, *offers, master],
    }
    processes = []
    try:
        for number, (ready, command) in enumerate(commands.items()):
            log = place / f"{('master', 'worker')[number]}.log"
            with log.open("w") as out:
                processes.append(
                    subprocess.Popen(
                        [SPARK / "bin/spark-class", *command],
                        cwd=place,
                        env=environment,
                        stdout=out,
                        stderr=subprocess.STDOUT,
                    )
                )
            _wait_for(log, ready)
        yield master
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(30)


def _wait_for(log: Path, text: str) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if re.search(text, log.read_text(encoding="utf-8", errors="replace")):
            return
        time.sleep(0.2)
    raise AssertionError(
        f"{log.name} never said {text!r}:"
        f" {log.read_text(encoding='utf-8', errors='replace')[-2000:]}"
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
