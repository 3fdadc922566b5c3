"""Who holds a run, and whether that process still lives."""

from __future__ import annotations

import os
import socket

DEAD_AFTER_MS = 600_000
"""A run that was not renewed for so long is dead: five renewals were missed."""


def this_process() -> str:
    """`host:pid:process-start`; the start is in the kernel's ticks and names the process namespace,
    so that no other process is ever taken for it.
    """
    return f"{_host()}:{os.getpid()}:{_started(os.getpid())}"


def why_dead(holder: str, renewed_at: int, now: int) -> str:
    """Why the holder is known to be dead, "" where it may live: its process is gone, or it gave no
    sign of life for DEAD_AFTER_MS.

    Times in ms, by the clocks of those who wrote them.
    """
    if now - renewed_at > DEAD_AFTER_MS:
        return f"it gave no sign of life for {(now - renewed_at) // 60_000:,} minutes"
    host, pid, start = holder.rsplit(":", 2) if holder.count(":") >= 2 else (holder, "", "")
    same_place = host == _host() and start.partition("@")[2] == _namespace() and pid.isdecimal()
    return "its process is gone" if same_place and _started(int(pid)) != start else ""


def _host() -> str:
    return socket.gethostname()


def _started(pid: int) -> str:
    """`ticks@namespace` where the kernel gives them, `0@` for a live process where it does not, ""
    for one that is gone.
    """
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
            # The command, in brackets, may hold anything; the start is field 22 and the state field
            # 3.
            fields = stat.read().rpartition(")")[2].split()
        return "" if fields[0] == "Z" else f"{fields[19]}@{_namespace()}"
    except FileNotFoundError:
        if os.path.isdir("/proc/self"):
            return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "0@"


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return ""
