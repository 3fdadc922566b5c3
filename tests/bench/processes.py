"""Memory and CPU of a running job: the processes below it, sampled from /proc."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from pathlib import Path

EVERY_SECONDS = 0.2
JVM = "jvm"
WORKER = "worker"
DRIVER = "driver"


@dataclass(slots=True)
class Usage:
    """By role of a process: the largest high-water mark of resident memory, in MB, and CPU seconds
    of all together.
    """

    peak_mb: dict[str, float] = field(default_factory=dict)
    cpu_seconds: dict[str, float] = field(default_factory=dict)


class Sampler:
    """Watches a process and all that descend from it until it is stopped. Where /proc is missing it
    sees nothing.
    """

    def __init__(self, pid: int) -> None:
        self._root = pid
        self._peak_kb: dict[int, int] = {}
        self._ticks: dict[int, int] = {}
        self._roles: dict[int, str] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> Usage:
        self._stopped.set()
        self._thread.join()
        usage = Usage()
        per_second = os.sysconf("SC_CLK_TCK")
        for pid, role in self._roles.items():
            usage.peak_mb[role] = max(
                usage.peak_mb.get(role, 0.0), self._peak_kb.get(pid, 0) / 1024
            )
            usage.cpu_seconds[role] = (
                usage.cpu_seconds.get(role, 0.0) + self._ticks.get(pid, 0) / per_second
            )
        return usage

    def _watch(self) -> None:
        while not self._stopped.wait(EVERY_SECONDS):
            for pid in self._descendants():
                self._look_at(pid)

    def _descendants(self) -> list[int]:
        children: dict[int, list[int]] = {}
        for entry in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(entry.read_text().rpartition(")")[2].split()[1])
            except (OSError, ValueError, IndexError):
                continue
            children.setdefault(parent, []).append(int(entry.parent.name))
        found = [self._root]
        for pid in found:
            found += children.get(pid, [])
        return found

    def _look_at(self, pid: int) -> None:
        folder = Path("/proc") / str(pid)
        try:
            status = (folder / "status").read_text()
            command = (
                (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            )
            ticks = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            return
        peak = next(
            (int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")), 0
        )
        # A child is its parent's copy until it becomes another program, so the last look decides;
        # one that has ended has no command any more.
        if command:
            self._roles[pid] = _role(command)
        self._peak_kb[pid] = max(self._peak_kb.get(pid, 0), peak)
        self._ticks[pid] = int(ticks[11]) + int(ticks[12])


def _role(command: str) -> str:
    if "pyspark.daemon" in command:
        return WORKER
    if "java" in command.split(" ", 1)[0]:
        return JVM
    return DRIVER if "python" in command else "other"
