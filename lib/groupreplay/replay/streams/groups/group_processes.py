"""Which processes the members of a streams group (KIP-1071) are threads of.

What counts is the last K19 of a member in an operation. A static member that comes back (4.4) is
described twice: first as the member was whose place it takes, then as it says of itself.
Source: GroupMetadataManager.replaceStreamsMember.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from groupreplay.records.entries import Entry
from groupreplay.records.others import OtherGroupRecord
from groupreplay.replay.operations import Operation
from groupreplay.replay.streams.groups.group_records import STREAMS_GROUP_MEMBER_METADATA
from groupreplay.replay.streams.processes import Processes


def run_in_processes(processes: Processes, operation: Operation, away: Set[str]) -> None:
    """Who left the process that it was a thread of in an operation, and then who is one now.

    away: static members that had left for a while before it.
    """
    last: dict[str, tuple[Entry, Mapping[str, Any] | None]] = {}
    for entry in operation.entries:
        record = entry.record
        if not isinstance(record, OtherGroupRecord):
            continue
        if record.key_type == STREAMS_GROUP_MEMBER_METADATA:
            last.pop(record.member_id, None)
            last[record.member_id] = (entry, record.value)
    for member_id, (_, value) in last.items():
        if value is None:
            processes.leave(member_id, was_away=member_id in away)
    for member_id, (entry, value) in last.items():
        if value is not None:
            _join(processes, member_id, entry, value)


def _join(processes: Processes, member_id: str, entry: Entry, value: Mapping[str, Any]) -> None:
    endpoint = value["user_endpoint"]
    processes.join(
        value["process_id"],
        member_id,
        client_host=value["client_host"],
        endpoint=f"{endpoint['host']}:{endpoint['port']}" if endpoint is not None else None,
        tags={each["key"]: each["value"] for each in value["client_tags"]},
        version=None,
        at=entry.ts_ms,
        offset=entry.offset,
        observed=True,
    )
