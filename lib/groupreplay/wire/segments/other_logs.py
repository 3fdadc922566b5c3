"""What shows that a log took the place of the one that was read: a code and its parameters, as text
for a unit of work and as the detail of a row.
"""

from __future__ import annotations

import json
from typing import Any, Final

LEADER_EPOCH: Final = "OTHER_LEADER_EPOCH"
SAME_OFFSET_LATER: Final = "OTHER_BATCH_TIME"
LOWER_OFFSET_LATER: Final = "OTHER_LOG_TIME"
TOPIC_ID: Final = "OTHER_TOPIC_ID"
LOWER_END: Final = "OTHER_LOG_END"


def shown(code: str, **params: int | str) -> str:
    """The text of a code and its parameters."""
    return json.dumps({"shown_by": code, **params}, separators=(",", ":"))


def detail_of(text: str) -> dict[str, Any]:
    """The code in `shown_by`, and the parameters. A plan of version 0.3 has a sentence: `found`."""
    if not text.startswith("{"):
        return {"found": text}
    detail: dict[str, Any] = json.loads(text)
    return detail
