"""Groups that the configuration leaves out, tonight and on the nights before: what is replayed of a
night's rows, and of those nights' rows.

A group that comes back is replayed from where it was left out: its raw rows were landed all the
while. Where they were deleted since, or are of a log that was deleted, its old state is dropped.
Then its new rows know of the hole, and nothing is measured across it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as sf

from groupreplay.config.model import GroupsConfig
from groupreplay.night.earlier.history import PastNight
from groupreplay.night.landing.landed import RecordsLanding
from groupreplay.report.joins.group_choice import is_left_out
from groupreplay.workers.evidence_slices import GROUP


@dataclass(frozen=True, slots=True)
class Nights:
    """Successive nights that left out the same groups.

    groups: the choice of groups that they share.
    nights: these nights, in order.
    """

    groups: GroupsConfig
    nights: tuple[PastNight, ...]


def nights_without(
    nights: Sequence[PastNight], logical_date: date, groups: GroupsConfig
) -> list[Nights]:
    """The unbroken run of nights before that date that left groups out, the newest first. Nights in
    a row with the same choice of groups are one item.

    Empty where the newest of them has tonight's choice: then no group comes back.

    nights: nights that landed, in order.
    groups: the choice of groups tonight.
    """
    found: list[Nights] = []
    for night in reversed([each for each in nights if each.logical_date < logical_date]):
        if not night.groups:
            break
        if found and found[-1].groups == night.groups:
            found[-1] = Nights(night.groups, (night, *found[-1].nights))
        else:
            found.append(Nights(night.groups, (night,)))
    return found if found and found[0].groups != groups else []


def nights_of_other_logs(
    without: Sequence[Nights], landing: RecordsLanding, *, all_of_them: bool
) -> frozenset[date]:
    """Nights that read a log whose topic was created again since.

    landing: what tonight has landed, and all nights before it.
    all_of_them: gives all nights. Needed where tonight replays rows that came late, because it is
        not known which of them these nights had missed.
    """
    logs = {partition: each.log_incarnation for partition, each in landing.watermarks.items()}
    nights = [night for each in without for night in each.nights]
    return frozenset(
        night.logical_date
        for night in nights
        if all_of_them
        or any(
            each.log_incarnation != logs.get(partition, 0)
            for partition, each in night.landing.watermarks.items()
        )
    )


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Which groups a night leaves out, and what nights before left out of groups that come back.

    groups: the choice of groups tonight.
    before: what `nights_without` gave: nights that left groups out, the newest first.
    gone: those nights among them whose raw rows were deleted, or are of logs that are no more.
    logs: offsets partition -> the incarnation of its log tonight.
    """

    groups: GroupsConfig
    before: Sequence[Nights] = ()
    gone: Collection[date] = ()
    logs: Mapping[int, int] = field(default_factory=dict)

    @property
    def since(self) -> date | None:
        """The first night of which rows are taken up again, None where there is none."""
        return min(
            (night.logical_date for night in self._nights() if night.logical_date not in self.gone),
            default=None,
        )

    @property
    def landings(self) -> list[RecordsLanding]:
        """Landings of the nights whose rows are taken up again."""
        return [night.landing for night in self._nights() if night.logical_date not in self.gone]

    def is_missed(self) -> Column:
        """Rows of nights that left out their group, which comes back tonight."""
        missed = sf.lit(False)
        for dates, was_left_out in self._left_out_until():
            missed |= sf.col("logical_date").isin(
                *[each.logical_date for each in dates]
            ) & was_left_out(sf.col("group_id"))
        return missed & ~is_left_out(sf.col("group_id"), self.groups)

    def kept_records(self, records: DataFrame, counted: Observation) -> DataFrame:
        """Rows of groups that are replayed.

        records: rows that `replay.night_records` gives.
        counted: gets `records`, the number of records that are left out, where groups are.
        """
        kept = records
        if self.groups:
            left_out = sf.count_if(
                (sf.col("kind") == "record") & is_left_out(sf.col("group_id"), self.groups)
            ).alias("records")
            kept = kept.observe(counted, left_out).where(self._is_kept())
        for night, was_left_out in self._gone():
            kept = kept.withColumn(
                "last_hole", _with_hole(night, self.logs, was_left_out(sf.col("group_id")))
            )
        return kept

    def kept_states(self, states: DataFrame) -> DataFrame:
        """states: rows of `group_state`, of any night."""
        return states.where(self._is_current(sf.col("group_id")))

    def kept_lines(self, lines: DataFrame) -> DataFrame:
        """lines: rows of `raw_lines`; those that name no group stay."""
        return lines.where(self._is_kept()) if self.groups else lines

    def kept_evidence(self, evidence: DataFrame) -> DataFrame:
        """evidence: rows with the state of a subject, of any night."""
        group_id = sf.when(
            sf.startswith("subject", sf.lit(GROUP)),
            sf.substring("subject", len(GROUP) + 1, 2**31 - 1),
        )
        return evidence.where(self._is_current(group_id))

    def _nights(self) -> list[PastNight]:
        return [night for each in self.before for night in each.nights]

    def _is_kept(self) -> Column:
        return ~is_left_out(sf.col("group_id"), self.groups)

    def _left_out_until(self) -> list[tuple[tuple[PastNight, ...], Callable[[Column], Column]]]:
        """Nights, and whether a group was left out from the last of them until tonight."""
        choices = [each.groups for each in self.before]

        def was_left_out(newest: int) -> Callable[[Column], Column]:
            def by_all(group_id: Column) -> Column:
                left_out = is_left_out(group_id, choices[0])
                for groups in choices[1 : newest + 1]:
                    left_out &= is_left_out(group_id, groups)
                return left_out

            return by_all

        return [(each.nights, was_left_out(place)) for place, each in enumerate(self.before)]

    def _gone(self) -> list[tuple[PastNight, Callable[[Column], Column]]]:
        """For each choice of groups, the newest night whose raw rows were deleted."""
        found = [
            ([night for night in nights if night.logical_date in self.gone], was_left_out)
            for nights, was_left_out in self._left_out_until()
        ]
        return [(nights[-1], was_left_out) for nights, was_left_out in found if nights]

    def _is_current(self, group_id: Column) -> Column:
        """Whether a state is of a group of tonight, and no rows after it were deleted."""
        current = ~is_left_out(group_id, self.groups)
        for night, was_left_out in self._gone():
            current &= ~(
                was_left_out(group_id) & (sf.col("logical_date") < sf.lit(night.logical_date))
            )
        return current


def _with_hole(night: PastNight, logs: Mapping[int, int], was_left_out: Column) -> Column:
    """Adds the hole below the rows of a night that left a group out. A log that took the place of
    the one that this night read has no such hole: it begins above it."""
    partitions = {
        partition: each
        for partition, each in night.landing.watermarks.items()
        if logs.get(partition, 0) == each.log_incarnation
    }
    if not partitions:
        return sf.col("last_hole")
    holes = sf.create_map(
        *[
            sf.lit(each)
            for partition, landed in partitions.items()
            for each in (partition, landed.next_position - 1)
        ]
    )
    below = sf.try_element_at(holes, sf.col("offsets_partition")).cast("bigint")
    return sf.when(was_left_out, sf.greatest("last_hole", below)).otherwise(sf.col("last_hole"))
