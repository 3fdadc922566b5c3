"""What every fact of a group has: whose it is, and which records open and close its row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, TypedDict

from groupreplay.state_codec import DERIVED


class Place(TypedDict):
    """Whose a fact is: the life of a group in a partition of the offsets topic."""

    group_id: str
    incarnation: int
    offsets_partition: int


class Client(TypedDict):
    """Which member a fact is of, and its client."""

    member_id: str
    instance_id: str | None
    client_id: str | None
    client_host: str | None
    member_protocol: str


@dataclass(slots=True, kw_only=True)
class Fact:
    """What every fact of a group has.

    from_offset: offset of the record that opens the row.
    to_offset: offset of the record that closes it, None while it is open.
    start_observed: False where the log began later than the row (its time is then that of the first
        record that shows it).
    is_final: no later record can change the row.
    log_incarnation: how often the offsets topic had been created again when its log began, None
        never. Machines do not know: who feeds them says it.
    """

    KIND: ClassVar[str] = ""
    group_id: str
    incarnation: int
    offsets_partition: int
    from_offset: int
    to_offset: int | None = None
    start_observed: bool = True
    is_final: bool = False
    log_incarnation: int | None = field(default=None, metadata=DERIVED)
