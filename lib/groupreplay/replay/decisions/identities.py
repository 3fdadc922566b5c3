"""Which process a member is, while member ids change: its instance id (KIP-345), or its client id
and host where no other live member of the group has them, or its member id.
"""

from __future__ import annotations

from groupreplay.replay.change import Change
from groupreplay.replay.life import Life, Member

INSTANCE, CLIENT, MEMBER = "instance:", "client:", "member:"
"""What an identity begins with."""


def identity_of(life: Life, member: Member) -> str:
    """Identity of a member by those that live after an operation; it need not be one of them."""
    is_gone = member.member_id not in life.members
    return _identity(member, life.clients.get(member.client_key, 0) + is_gone)


def identity_of_gone(life: Life, change: Change, member: Member) -> str:
    """Identity of a member that an operation removed, as of before it: one that takes its place in
    the same operation does not count.
    """
    return _identity(member, _alike_before(life, change, member))


def _alike_before(life: Life, change: Change, member: Member) -> int:
    """How many members had its client id and host before the operation."""
    found = life.clients.get(member.client_key, 0)
    for member_id, before in change.before.items():
        gone = change.removed.get(member_id)
        other = gone if gone is not None else life.members[member_id]
        if other.client_key == member.client_key:
            found += (gone is not None and before.existed) - (gone is None and not before.existed)
    return found


def _identity(member: Member, alike: int) -> str:
    if member.instance_id is not None:
        return f"{INSTANCE}{member.instance_id}"
    if member.client_id is not None and alike == 1:
        return f"{CLIENT}{member.client_id} {member.client_host}"
    return f"{MEMBER}{member.member_id}"
