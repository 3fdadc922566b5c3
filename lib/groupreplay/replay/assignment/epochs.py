"""Rows of `group_epochs`: one a K3, one a K2 that raises the generation or ends a downgrade. Source
of the rules: docs/measures.md, Epochs.
"""

from __future__ import annotations

import copy
from collections.abc import Container

from groupreplay.limits import MAX_CHAIN_GAP_MS
from groupreplay.records.consumer import STABLE
from groupreplay.replay.causes import STORM_CAUSES, TOPIC_METADATA
from groupreplay.replay.change import ClassicGeneration
from groupreplay.replay.decisions.profiles import note_epoch
from groupreplay.replay.facts import Chain, Epoch, Stall
from groupreplay.replay.life import CLASSIC, STREAMS, Life, Member
from groupreplay.replay.output import Output
from groupreplay.replay.rules.judge import Judge

MAX_CHAIN_LENGTH = 256

ANSWERED_MS = 600_000
"""After a target, so late, no member is unseen: each has answered by a K8 or was removed. It hears
of the target within its session timeout (45 s by default), and what it is asked for it gives back
within its rebalance timeout (5 min).
"""


class Epochs:
    """The epoch rows of one life, and what follows from them: epoch storms, epochs whose target is
    not computed.

    _blockers: members of which some may keep the open epoch from converging, in sight of the last
        hole.
    """

    def __init__(self, life: Life, output: Output, judge: Judge) -> None:
        self._life = life
        self._output = output
        self._judge = judge
        self._opened: list[Epoch] = []
        self._blockers: list[str] = []

    def open(
        self,
        epoch: int,
        at: int,
        offset: int,
        cause: tuple[str, str | None, str],
        observed: bool = True,
        generation: ClassicGeneration | None = None,
    ) -> None:
        """Begins an epoch and supersedes the one before.

        cause: (cause, member, confidence).
        generation: what the K2 shows of a classic group's generation, None of any other group.
        """
        life = self._life
        self.close(at, offset)
        life.epoch, life.epoch_offset = epoch, offset
        life.epoch_row = Epoch(
            **life.place,
            from_offset=offset,
            start_observed=observed,
            epoch=epoch,
            protocol=life.protocol,
            started_at=at,
            cause=cause[0],
            cause_member_id=cause[1],
            confidence=cause[2],
            members=len(life.members),
            members_classic=life.classic_members,
        )
        if generation is not None:
            _add_generation(life.epoch_row, generation)
        self._opened.append(life.epoch_row)
        note_epoch(life, at)
        if cause[0] == TOPIC_METADATA:
            life.topic_metadata_epoch = epoch
        if cause[0] in STORM_CAUSES and observed and life.protocol != CLASSIC:
            self._add_to_storm(at, offset)

    def note_topics(self, epoch: int, metadata_hash: int) -> None:
        """A K3's hash of the topics subscribed to: another one shows that they changed."""
        life = self._life
        if metadata_hash != life.metadata_hash:
            life.topic_metadata_epoch = epoch
        life.metadata_hash = metadata_hash

    def count_only(self, epoch: int | None) -> None:
        """The epoch of a group that gets no rows of epochs."""
        self._life.epoch = epoch

    def note_asked(self, at: int, offset: int, last_hole: int) -> None:
        """A K6: the first one behind a hole asks every member for a K8, those too that the hole
        hides.
        """
        life = self._life
        if life.asked_offset < 0 or life.asked_offset < last_hole:
            life.asked_at, life.asked_offset = at, offset

    def note_listed(self, offset: int) -> None:
        """An upgrade that was seen whole: whom it does not take over is no member."""
        self._life.listed_offset = offset

    def count_members(self) -> list[Epoch]:
        """Gives the rows that the operation opened. members and members_classic are those at its
        end.
        """
        for row in self._opened:
            row.members, row.members_classic = len(self._life.members), self._life.classic_members
        opened, self._opened = self._opened, []
        return opened

    def close(self, at: int, offset: int, ended: bool = False) -> None:
        """Ends the open epoch: superseded, or with its life (`ended`)."""
        row = self._life.epoch_row
        if row is None:
            return
        if self._is_doubted():
            _withdraw(row)
        self._life.converged_in_doubt = False
        row.to_offset = offset
        if not ended:
            row.superseded_at = at
        if row.outcome == "OPEN":
            row.outcome = "GROUP_REMOVED" if ended else "SUPERSEDED"
        self._output.emit(row)
        self._life.epoch_row = None

    def target(
        self,
        epoch: int,
        at: int,
        offset: int,
        moved: int | None,
        left_behind: Container[str] = (),
    ) -> None:
        """A K6: the first one of the open epoch gives its target's time.

        moved: partitions whose target went from one member to another, None where the target before
            was not seen.
        left_behind: members that an upgrade did not take over: what they had in the last generation
            is in no target of this epoch.
        """
        row = self._life.epoch_row
        if row is not None and row.epoch == epoch and row.target_at is None:
            row.target_at = at
            row.partitions_moved = moved
            if self._life.protocol != STREAMS:  # whose targets are tasks
                owners = self._life.target_owner.values()
                old = sum(each in left_behind for each in owners) if left_behind else 0
                row.partitions = len(owners) - old
            row.assign_ms = self._since_start(row, at, offset, "assign_ms")

    def note_stopped(self, partitions: int) -> None:
        """How many partitions the open generation of an eager group stopped."""
        if self._life.epoch_row is not None:
            self._life.epoch_row.stopped = partitions

    def note_hole(self, last_hole: int) -> None:
        """What the open epoch came to is not known where a hole lies in it: members may be there
        that were not seen, and other epochs.
        """
        row = self._life.epoch_row
        if row is None or last_hole <= row.from_offset:
            return
        if row.outcome == "OPEN":
            row.outcome = "UNOBSERVED"
        elif self._is_doubted():
            _withdraw(row)
        self._life.converged_in_doubt = False

    def note_unseen(self) -> None:
        """A member shows itself that was not seen to join: it may have been there all along, so the
        open epoch did not converge without it.
        """
        life, row = self._life, self._life.epoch_row
        if row is not None and life.converged_in_doubt:
            _withdraw(row)
            life.converged_in_doubt = False

    def as_it_stands(self) -> Epoch | None:
        """A copy of the open epoch. Changes nothing."""
        row = copy.copy(self._life.epoch_row)
        if row is not None and self._is_doubted():
            _withdraw(row)
        return row

    def converge(self, at: int, offset: int, last_hole: int) -> None:
        """Marks the open epoch as converged when every live member is STABLE in it. A group without
        members converges on nothing.

        offset: offset of the operation's last record.
        """
        self.note_hole(last_hole)
        life, row = self._life, self._life.epoch_row
        if life.converged_in_doubt:
            life.converged_in_doubt = not self.knows_members(at, last_hole)
        if (
            row is None
            or row.outcome != "OPEN"
            or not life.members
            or row.epoch != life.target_epoch
        ):
            return
        if life.stable.get(row.epoch, 0) == len(life.members):
            row.converged_at = at
            row.outcome = "CONVERGED"
            life.converged_in_doubt = not self.knows_members(at, last_hole)
            row.converge_ms = self._since_start(row, at, offset, "converge_ms")
        elif self._hides_blockers(row.epoch, last_hole):
            row.outcome = "UNOBSERVED"

    def watch_assigning(
        self, at: int, offset: int, last_hole: int, last_change_offset: int
    ) -> None:
        """ASSIGNING: the group epoch is past the target's while members live (an empty group may
        stay so from 4.4 on).

        last_change_offset: offset of the last record of the operation before, -1 where there is
            none. A target may lie in a hole, so what was so before one is not known to have lasted,
            nor when an epoch without its K3 began.
        """
        life = self._life
        if life.assigning is not None and last_hole > life.assigning.from_offset:
            life.assigning = None
        # A streams group waits for its first target (KIP-1071, the initial rebalance delay).
        begins = life.protocol == STREAMS and life.birth_seen
        target_epoch = 0 if life.target_epoch is None and begins else life.target_epoch
        lags = (
            life.epoch is not None
            and target_epoch is not None
            and life.epoch > target_epoch
            and bool(life.members)
            and life.protocol != CLASSIC
        )
        if lags and life.assigning is None:
            life.assigning = Stall(
                **life.place,
                from_offset=offset,
                start_observed=last_hole <= last_change_offset and self._knows_start(),
                reason="ASSIGNING_STALLED",
                member_id=None,
                since_at=at,
                blocked_by=[],
                epochs=[life.epoch or 0, target_epoch or 0],
            )
        elif not lags and life.assigning is not None:
            stall, life.assigning = life.assigning, None
            self._output.emit_stall(stall, at, offset)

    def _since_start(self, row: Epoch, at: int, offset: int, what: str) -> int | None:
        """How long an epoch had lasted by then, in ms; None where its start was not seen, or a
        clock went back, which is an anomaly.
        """
        if not row.start_observed:
            return None
        if at < row.started_at:
            self._judge.note_negative(at, offset, what, row.started_at - at)
            return None
        return at - row.started_at

    def _hides_blockers(self, epoch: int, last_hole: int) -> bool:
        """Whether all that kept an epoch from converging are members that a hole hides the end of:
        they may have been gone.
        """
        if last_hole < 0:
            return False
        members, blockers = self._life.members, self._blockers
        while blockers and not _blocks(members.get(blockers[-1]), epoch, last_hole):
            blockers.pop()
        if not blockers:  # all members are asked only once those that were known have converged
            blockers += [i for i, member in members.items() if _blocks(member, epoch, last_hole)]
        return not blockers

    def _is_doubted(self) -> bool:
        """Whether the open epoch converged by the members that were seen, and there may be others
        still.
        """
        life = self._life
        return life.converged_in_doubt and not self.knows_members(life.last_at, life.last_hole)

    def knows_members(self, at: int, last_hole: int) -> bool:
        """Whether no member can be there that was not seen: the birth of the group was, or a K2 or
        a whole upgrade, which list all, or all have answered a target since; and no hole came after
        it.
        """
        life = self._life
        birth = life.incarnation if life.birth_seen else -1
        known_from = max(life.k2_offset, life.listed_offset, birth)
        if known_from >= 0 and last_hole <= known_from:
            return True
        asked = max(0, last_hole) <= life.asked_offset
        return asked and at - life.asked_at >= ANSWERED_MS

    def _knows_start(self) -> bool:
        row = self._life.epoch_row
        return row is not None and row.start_observed

    def _add_to_storm(self, at: int, offset: int) -> None:
        life = self._life
        storm = life.storm
        if storm is not None and (
            at - storm.times_at[-1] > MAX_CHAIN_GAP_MS or len(storm.times_at) >= MAX_CHAIN_LENGTH
        ):
            self._output.emit_chain(storm)
            storm = None
        if storm is None:
            storm = Chain(
                **life.place,
                from_offset=offset,
                reason="EPOCH_STORM",
                member_id=None,
                times_at=[],
                ends_at=[],
            )
        storm.times_at.append(at)
        storm.ends_at.append(at)
        life.storm = storm


def _blocks(member: Member | None, epoch: int, last_hole: int) -> bool:
    """Whether a member keeps an epoch from converging, and was seen since a hole."""
    return (
        member is not None
        and member.current_offset >= last_hole
        and (member.epoch, member.state) != (epoch, STABLE)
    )


def _withdraw(row: Epoch) -> None:
    """An epoch of which it is not known whether it converged."""
    row.outcome, row.converged_at, row.converge_ms = "UNOBSERVED", None, None


def _add_generation(row: Epoch, generation: ClassicGeneration) -> None:
    row.joined_at = generation.joined_at
    row.sync_ms = generation.sync_phase_ms
    row.cooperative = generation.cooperative
    row.skipped = generation.skipped
    row.leader_member_id = generation.leader
