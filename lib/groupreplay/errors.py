"""Every error that a user can meet and act on. Bad data is never one of them: it is a row.

    GroupReplayError            exit 1
    ├── ConfigError             exit 2   a configuration cannot be used
    ├── NotReady                exit 2   jars, worker Python, access, or the steps before are not as
    a run needs them
    ├── SourceUnreadable        exit 3   a source cannot be read at all
    ├── RunHeld                 exit 4   another run holds this (cluster, logical_date)
    ├── NoSpace                 exit 1   a disk is full
    └── WarehouseDamaged        exit 5   a table cannot be read as it is
        ├── SchemaDrift         exit 5   a table is not what schemas/ says
        └── StatesOutdated      exit 5   states of groups were written by a newer version, or are
        damaged

Arguments are structured; `str()` is the one sentence that a person reads as the last line of
output.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import ClassVar


class GroupReplayError(Exception):
    """Root; never raised itself.

    exit_code: exit status of a process that ends with it.
    """

    exit_code: ClassVar[int] = 1


class ConfigError(GroupReplayError):
    """file: path of the configuration, or the argument it came by.
    key: dotted, "" for the whole.
    problem: what is there and what was expected.
    """

    exit_code = 2

    def __init__(self, file: str, key: str, problem: str) -> None:
        super().__init__(file, key, problem)
        self.file, self.key, self.problem = file, key, problem

    def __str__(self) -> str:
        return (
            f"{self.file}: {self.key}: {self.problem}"
            if self.key
            else f"{self.file}: {self.problem}"
        )


class NotReady(GroupReplayError):
    """what: the thing a run needs and lacks.
    remedy: what to do about it.
    """

    exit_code = 2

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.what, self.remedy = what, remedy

    def __str__(self) -> str:
        return f"{self.what}; {self.remedy}"


class SourceUnreadable(GroupReplayError):
    """source: its kind and path.
    why: in words.
    """

    exit_code = 3

    def __init__(self, source: str, why: str) -> None:
        super().__init__(source, why)
        self.source, self.why = source, why

    def __str__(self) -> str:
        return f"the source {self.source} cannot be read: {self.why}"


class RunHeld(GroupReplayError):
    """who: holder of the run, "host:pid:process-start".
    since: when it started, UTC.
    why_dead: in words, "" where it lives.
    """

    exit_code = 4

    def __init__(
        self, cluster: str, logical_date: date, who: str, since: datetime, why_dead: str = ""
    ) -> None:
        super().__init__(cluster, logical_date, who, since, why_dead)
        self.cluster, self.logical_date, self.who, self.since, self.why_dead = (
            cluster,
            logical_date,
            who,
            since,
            why_dead,
        )

    def __str__(self) -> str:
        held = (
            f"cluster {self.cluster}, night {self.logical_date}: {self.who}, since"
            f" {self.since:%Y-%m-%d %H:%M:%S} UTC"
        )
        if self.why_dead:
            return (
                f"a dead run holds {held}; {self.why_dead}: run the same job with --take-over to"
                " finish it"
            )
        return f"another run holds {held}"


class NoSpace(GroupReplayError):
    """what: that could not be written, in words."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what

    def __str__(self) -> str:
        return (
            f"no space is left for {self.what}; make room and run it again: nothing is lost, and"
            " readers see what they saw before"
        )


class WarehouseDamaged(GroupReplayError):
    """table: its name.
    why: what is wrong.
    remedy: what to do.
    """

    exit_code = 5

    def __init__(self, table: str, why: str, remedy: str) -> None:
        super().__init__(table, why, remedy)
        self.table, self.why, self.remedy = table, why, remedy

    def __str__(self) -> str:
        return f"the table {self.table} is damaged: {self.why}; {self.remedy}"


class SchemaDrift(WarehouseDamaged):
    """differences: one sentence each between schemas/<table>.sql and the table as it is."""

    def __init__(self, table: str, differences: Sequence[str]) -> None:
        super().__init__(
            table,
            "; ".join(differences),
            f"make it what schemas/{table}.sql says, or move the warehouse aside and replay from"
            " the logs",
        )
        self.differences = tuple(differences)

    def __str__(self) -> str:
        return (
            f"the table {self.table} is not what schemas/{self.table}.sql says: {self.why};"
            f" {self.remedy}"
        )


class StatesOutdated(WarehouseDamaged):
    """table: the one that holds the states. They are never misread: nothing of the night was
    published.
    """

    def __init__(self, table: str) -> None:
        why = (
            "this version cannot read the states in it, which a newer one wrote or which are"
            " damaged"
        )
        super().__init__(
            table, why, "run rebuild_nights, which makes every night again from its raw rows"
        )

    def __str__(self) -> str:
        return f"the table {self.table} is of another version: {self.why}; {self.remedy}"
