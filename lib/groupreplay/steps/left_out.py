"""Groups that the configuration leaves out, tonight and on nights before: what of a night's rows and states is replayed.

A group that comes back after nights without it has a hole in its history that lies in no log: its old state is not taken up, and all rows above know
of the hole, so that nothing is measured across it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as sf

from groupreplay.config import GroupsConfig
from groupreplay.grouped.evidence_slices import GROUP
from groupreplay.steps.history import PastNight
from groupreplay.transforms.left_out import is_left_out


@dataclass(frozen=True, slots=True)
class EarlierNights:
    """Nights that left groups out. last_night: the newest of them. next_offsets: partition -> where the night after it went on."""

    groups: GroupsConfig
    last_night: date
    next_offsets: Mapping[int, int]


def earlier_nights(nights: Sequence[PastNight], logical_date: date) -> list[EarlierNights]:
    """Of the nights before that date, one for each choice of groups. nights: in order."""
    found = {}
    for night in nights:
        if night.logical_date < logical_date and night.groups:
            offsets = {partition: landed.next_offset for partition, landed in night.landing.partitions.items()}
            found[night.groups] = EarlierNights(night.groups, night.logical_date, offsets)
    return list(found.values())


@dataclass(slots=True)
class LeftOut:
    """groups: of tonight."""

    groups: GroupsConfig
    earlier: Sequence[EarlierNights]
    _observation: Observation | None = field(default=None, init=False)

    @property
    def records(self) -> int:
        """Records left out, once what `kept_records` gave was written."""
        return int(self._observation.get["records"]) if self._observation is not None else 0

    def kept_records(self, records: DataFrame) -> DataFrame:
        """records: of `replay.night_records`."""
        kept = records
        if self.groups:
            self._observation = Observation("left_out")
            left_out = sf.count_if((sf.col("kind") == "record") & is_left_out(sf.col("group_id"), self.groups)).alias("records")
            kept = kept.observe(self._observation, left_out).where(self._is_kept())
        for nights in self.earlier:
            kept = kept.withColumn("last_hole", _with_hole(nights))
        return kept

    def kept_states(self, states: DataFrame) -> DataFrame:
        """states: rows of `group_state`, of any night."""
        return states.where(self._is_current(sf.col("group_id")))

    def kept_lines(self, lines: DataFrame) -> DataFrame:
        """lines: rows of `raw_lines`; those that name no group stay."""
        return lines.where(self._is_kept()) if self.groups else lines

    def kept_evidence(self, evidence: DataFrame) -> DataFrame:
        """evidence: rows with the state of a subject, of any night."""
        group_id = sf.when(sf.startswith("subject", sf.lit(GROUP)), sf.substring("subject", len(GROUP) + 1, 2**31 - 1))
        return evidence.where(self._is_current(group_id))

    def _is_kept(self) -> Column:
        return ~is_left_out(sf.col("group_id"), self.groups)

    def _is_current(self, group_id: Column) -> Column:
        """A state of a group of tonight that no night after it left out."""
        current = ~is_left_out(group_id, self.groups)
        for nights in self.earlier:
            current &= ~(is_left_out(group_id, nights.groups) & (sf.col("logical_date") < sf.lit(nights.last_night)))
        return current


def _with_hole(nights: EarlierNights) -> Column:
    if not nights.next_offsets:
        return sf.col("last_hole")
    holes = sf.create_map(*[sf.lit(each) for partition, offset in nights.next_offsets.items() for each in (partition, offset - 1)])
    below = sf.try_element_at(holes, sf.col("offsets_partition")).cast("bigint")
    return sf.when(is_left_out(sf.col("group_id"), nights.groups), sf.greatest("last_hole", below)).otherwise(sf.col("last_hole"))
