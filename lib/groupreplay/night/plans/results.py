"""What a run has made of its plan so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from groupreplay.config.model import GroupsConfig
from groupreplay.night.landing.landed import LinesLanding, RecordsLanding
from groupreplay.tables.warehouse import NO_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """What a run has made so far; each step adds its own.

    landing: of the offsets topic, None until it was landed.
    lines: of brokers' logs; None until they were landed, and where there never were any.
    groups: the choice of groups that was replayed.
    left_out: records of the groups that were not.
    staged_version: of `replayed`, NO_VERSION until then.
    staged_rows, staged_kinds: its facts, and their kinds.
    evidence_version, evidence_kinds: the same of `evidence`, where there are lines.
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
