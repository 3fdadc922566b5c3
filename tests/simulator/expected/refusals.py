"""`refusals`: who was refused for good, and how often (evidence.md, refusals).

The truth tells refusals that ended a client; runs of one group and error are taken together. What a
client gets over, and what admins are answered, is not in it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from tests.simulator.compare import Between, Key, Wanted
from tests.simulator.expected.history import Check, History
from tests.simulator.tables import Row

NOT_TOLD: Final = "refusals that ended no client"
_MEMBERSHIP: Final = (
    *("JOIN_GROUP", "SYNC_GROUP", "HEARTBEAT"),
    *("CONSUMER_GROUP_HEARTBEAT", "SHARE_GROUP_HEARTBEAT"),
)
_GOT_OVER: Final = (
    *("UNKNOWN_MEMBER_ID", "FENCED_MEMBER_EPOCH", "STALE_MEMBER_EPOCH", "ILLEGAL_GENERATION"),
    *("UNKNOWN_SERVER_ERROR", "INVALID_GROUP_ID"),
)
_MANY: Final = 1_000_000
"""A client that is gone when the answer comes does not hear it: there may be more."""

_ON_ITS_WAY_MS: Final = 1_000
"""From the broker's answer until the client has it."""


def _wanted(history: History) -> dict[Key, Wanted]:
    heard: dict[tuple[str, str], list[int]] = defaultdict(list)
    for event in history.truth.injected:
        if event.what in ("refused", "fenced instance") and event.group_id is not None:
            is_fenced = event.what == "fenced instance"
            error = "FENCED_INSTANCE_ID" if is_fenced else event.detail.split()[-1]
            # Some clients end by what others get over: no row tells them apart.
            if error not in _GOT_OVER:
                heard[event.group_id, error].append(event.broker_at)
    wanted: dict[Key, Wanted] = {}
    for key, times in heard.items():
        first, last = min(times), max(times)
        values = {
            "attempts": Between(len(times), _MANY),
            "first_at": Between(0, first),
            # A broker whose clock is ahead refuses later than the newest record.
            "last_at": Between(
                last - _ON_ITS_WAY_MS, max(last, history.truth.as_of_ms) + _ON_ITS_WAY_MS
            ),
        }
        wanted[key] = Wanted(values, ())
    return wanted


def _gathered(history: History, rows: Sequence[Row]) -> Sequence[Row]:
    """One row a group and error, of the runs of all askers."""
    found: dict[tuple[str, str, bool], Row] = {}
    for row in rows:
        is_told = row["api"] in _MEMBERSHIP and row["error"] not in _GOT_OVER
        same = found.setdefault((row["group_id"], row["error"], is_told), {**row, "attempts": 0})
        same["is_told"] = is_told
        same["attempts"] += row["attempts"]
        same["first_at"] = min(same["first_at"], row["first_at"])
        same["last_at"] = max(same["last_at"], row["last_at"])
    return list(found.values())


def _key_of(history: History, row: Row) -> Key:
    key: Key = (row["group_id"], row["error"])
    return key if row["is_told"] else (*key, NOT_TOLD)


def _excuse(history: History, row: Row) -> str:
    return NOT_TOLD


CHECK: Final = Check("refusals", _wanted, _key_of, _excuse, _gathered)
