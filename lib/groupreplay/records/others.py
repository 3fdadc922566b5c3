"""Share and streams groups: K9 to K15, K17 to K23."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class OtherGroupRecord:
    """A record of a share or streams group, decoded whole.

    key_type: 9 to 15 (share) or 17 to 23 (streams).
    member_id: "" where the key has none.
    value: Kafka's field names in snake_case.
    """

    key_type: int
    group_id: str
    member_id: str
    value: dict[str, Any] | None


SHARE_MEMBER_METADATA = 10
SHARE_GROUP_METADATA = 11
