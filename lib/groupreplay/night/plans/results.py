"""What a run has made of its plan so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from groupreplay.config.model import GroupsConfig
from groupreplay.night.landing.landed import LinesLanding, RecordsLanding
from groupreplay.tables.warehouse import NO_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What a run has made so far; each step adds its own.

    landing: what was landed of the offsets topic, None before anything was.
    lines: what was landed of brokers' logs, None before anything was.
    groups: the choice of groups that was replayed.
    left_out: how many records of other groups were left out.
    staged_version: version of table `replayed` with the night's facts, NO_VERSION until then.
    staged_rows, staged_kinds: how many facts these are, and their kinds.
    evidence_version: version of table `evidence` with the night's facts, NO_VERSION until then and
        where there are no lines.
    evidence_kinds: kinds of these facts.
    """

    landing: RecordsLanding | None = None
    lines: LinesLanding | None = None
    groups: GroupsConfig = field(default_factory=GroupsConfig)
    left_out: int = 0
    staged_version: int = NO_VERSION
    staged_rows: int = 0
    staged_kinds: tuple[str, ...] = ()
    evidence_version: int = NO_VERSION
    evidence_kinds: tuple[str, ...] = ()

    @property
    def landed(self) -> RecordsLanding:
        """`landing` of a run that is past PLANNED."""
        assert self.landing is not None, "a run that is past PLANNED has landed"
        return self.landing

    @property
    def kinds(self) -> frozenset[str]:
        """Kinds of the night's raw rows, and of the facts that were staged."""
        of_lines = self.lines.kinds if self.lines else ()
        return frozenset((*self.staged_kinds, *self.landed.kinds, *of_lines))
