"""Python runs this by itself when its folder is on PYTHONPATH: a run of a job then dies where
FAULT_POINT says, lives by another clock, or publishes fewer tables.

    FAULT_POINT   before:NAME:N   the Nth write called NAME of the process begins       after:NAME:N
    it has ended
                  files:NAME:N    it has made a data file, and not yet a commit
                  soon:NAME:N:MS so long after it began
    FAULT_CLOCK_S what is added to the clock of the table `runs`, in s
    FAULT_TABLES  what a night publishes, with commas between; nothing: all tables

NAME is a table, `create_all` for the making of tables, or `_sql` for the statements. Dying is
SIGKILL for the whole process group, driver and JVM.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

POINT = os.environ.get("FAULT_POINT", "")
CLOCK_S = float(os.environ.get("FAULT_CLOCK_S", "0"))
TABLES = os.environ.get("FAULT_TABLES", "")
WATCHED = (
    "groupreplay.tables.warehouse",
    "groupreplay.tables.runs",
    "groupreplay.night.publishing.publisher",
    "groupreplay.night.publishing.publish",
)

_begun: Counter[str] = Counter()
_lock = threading.Lock()


def die() -> None:
    # One call for the whole group: nobody in it sees another one gone.
    os.killpg(0, signal.SIGKILL)


def watched(name_of: Callable[..., str], work: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, that dies at its point."""

    def call(*arguments: Any, **named: Any) -> Any:
        name = name_of(*arguments, **named)
        with _lock:
            _begun[name] += 1
            number = _begun[name]
        if f"before:{name}:{number}" == POINT:
            die()
        if f"files:{name}:{number}" == POINT:
            folder = Path(arguments[0].path(name))
            threading.Thread(
                target=_die_at_file, args=(folder, _data_files(folder)), daemon=True
            ).start()
        if POINT.startswith(f"soon:{name}:{number}:"):
            threading.Timer(int(POINT.rpartition(":")[2]) / 1000, die).start()
        result = work(*arguments, **named)
        if f"after:{name}:{number}" == POINT:
            die()
        return result

    return call


def _data_files(folder: Path) -> set[Path]:
    return set(folder.rglob("*.parquet"))


def _die_at_file(folder: Path, before: set[Path]) -> None:
    while not _data_files(folder) - before:
        time.sleep(0.002)
    die()


def _patch(module: ModuleType) -> None:
    if module.__name__ == "groupreplay.tables.warehouse":
        warehouse = module.Warehouse
        warehouse.replace = watched(lambda _, name, *__, **___: name, warehouse.replace)
        warehouse.replace_own = watched(lambda _, name, *__, **___: name, warehouse.replace_own)
        warehouse.create_all = watched(lambda *_, **__: "create_all", warehouse.create_all)
        warehouse.replace_text = watched(lambda *_, **__: "_sql", warehouse.replace_text)
    elif module.__name__ == "groupreplay.night.publishing.publisher":
        left_out = set(_left_out())
        module.__dict__["SPECS"] = {
            name: spec for name, spec in module.SPECS.items() if name not in left_out
        }
    elif module.__name__ == "groupreplay.night.publishing.publish":
        _ask_no_others(module)
    else:
        now = module._now
        module.__dict__["_now"] = lambda: now() + int(CLOCK_S * 1000)


def _left_out() -> list[str]:
    """Tables that a night does not publish."""
    from groupreplay.report.catalog import SPECS

    names = set(filter(None, TABLES.split(","))) or set(SPECS)
    return [name for name in SPECS if name not in names]


def _ask_no_others(module: ModuleType) -> None:
    """Pages take tables that are not published for empty, and the summary all but one."""
    none = dict.fromkeys(_left_out(), 0)
    unasked = none.keys() | ({*module.SUMMARY_TABLES} - {"coverage"} if none else set())
    frames, draw = module.summary_frames, module.drawn_pages
    module.__dict__["summary_frames"] = lambda rows, logical_date, top, empty: frames(
        rows, logical_date, top, {*empty, *unasked}
    )
    module.__dict__["drawn_pages"] = lambda night, as_of_ms, kept, counts: draw(
        night, as_of_ms, kept, {**none, **counts}
    )


class _Patching(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self.loader.exec_module(module)
        _patch(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in WATCHED:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        sys.meta_path.insert(0, self)
        if spec is not None and spec.loader is not None:
            spec.loader = _Patching(spec.loader)
        return spec


if POINT or CLOCK_S or TABLES:
    sys.meta_path.insert(0, _Finder())
