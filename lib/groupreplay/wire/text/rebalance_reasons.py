"""Why a classic rebalance began, as `Preparing to rebalance` says it: the server's reason, the
client's, and who is named.
"""

from __future__ import annotations

import re

from groupreplay.records.log_events import LogEvent
from groupreplay.wire.text.line_template import template

NEW_MEMBER = "NEW_MEMBER"
REJOINED = "REJOINED"  # a member joined again
LEADER_REJOINED = "LEADER_REJOINED"
METADATA_CHANGED = (  # a member joined again with other protocols or another subscription
    "METADATA_CHANGED"
)
STATIC_METADATA_CHANGED = "STATIC_METADATA_CHANGED"  # a static member returned with them
STATIC_PROTOCOL_CHANGED = "STATIC_PROTOCOL_CHANGED"  # and with it the group's protocol changes
LEFT = "LEFT"
SESSION_EXPIRED = "SESSION_EXPIRED"
SYNC_TIMEOUT = "SYNC_TIMEOUT"
ASSIGNMENT_NOT_STORED = "ASSIGNMENT_NOT_STORED"
DOWNGRADED = "DOWNGRADED"  # from the consumer protocol
OVER_CAPACITY = "OVER_CAPACITY"  # as it was loaded

_CLIENT_MARK = "; client reason: "
_CLIENT = _CLIENT_MARK + "<R>"
_REASONS = (
    template(NEW_MEMBER, "Adding new member <M> with group instance id {None|null}" + _CLIENT),
    template(NEW_MEMBER, "Adding new member <M> with group instance id Some(<I>)" + _CLIENT),
    template(NEW_MEMBER, "Adding new member <M> with group instance id <I>" + _CLIENT),
    template(REJOINED, "Member <M> {is |}joining group during <S>" + _CLIENT),
    template(LEADER_REJOINED, "Leader <M> re-joining group during <S>" + _CLIENT),
    template(METADATA_CHANGED, "Updating metadata for member <M> during <S>" + _CLIENT),
    template(
        STATIC_METADATA_CHANGED,
        "Updating metadata for static member <M> with instance id Some(<I>)" + _CLIENT,
    ),
    template(
        STATIC_METADATA_CHANGED,
        "Updating metadata for static member <M> with instance id <I>" + _CLIENT,
    ),
    template(
        STATIC_PROTOCOL_CHANGED,
        "Group's selectedProtocol will change because static member <M> with instance id <I> joined"
        " with change of protocol" + _CLIENT,
    ),
    template(LEFT, "Removing member <M> on LeaveGroup" + _CLIENT),
    template(LEFT, "explicit `LeaveGroup` request for (<Ms>) members."),
    template(SESSION_EXPIRED, "removing member <M> on heartbeat expiration{.|}"),
    template(SYNC_TIMEOUT, "Removing <Ms> on pending sync request expiration{.|}"),
    template(
        ASSIGNMENT_NOT_STORED,
        "Error <*> when storing group assignment{ |}during SyncGroup (member: <M>){.|}",
    ),
    template(DOWNGRADED, "Downgrade group <*> from consumer to classic<*>"),
    template(OVER_CAPACITY, "Freshly-loaded group <*> is over capacity <*>"),
)
_LISTED = re.compile(r"(?:Set|HashSet|List|Vector)?[(\[](.*)[)\]]")
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_ITEM = re.compile(rf"((?:[\w-]{{22}}|{_UUID})(?=, |$)|.*?-{_UUID}|[^\s,]+)(?:, |$)", re.ASCII)
"""A member id of a list: one that a client of the consumer protocol made (22 characters of base 64,
or a UUID), that a coordinator made of a client id, or any without a comma.
"""


def split_reason(event: LogEvent, text: str) -> None:
    """Puts a reason into an event: `detail` is its kind above, or the server's text if that is of
    none; who is named and the client's words (None: `not provided`, or a client too old to have
    any) are fields of their own. The group has been decided; the shortest ids are taken.
    """
    for one in _REASONS:
        found = one.lazy.fullmatch(text)
        if found is not None:
            fields = found.groupdict()
            event.detail = one.event
            event.member_id = fields.get("member_id")
            event.instance_id = fields.get("instance_id")
            event.client_reason = _client_reason(fields.get("client_reason"))
            event.member_ids = member_ids_of(fields.get("member_ids") or "")
            if len(event.member_ids) == 1:
                event.member_id = event.member_ids[0]
            return
    event.detail, _, client = text.partition(_CLIENT_MARK)
    event.client_reason = _client_reason(client)


def _client_reason(text: str | None) -> str | None:
    return None if text in (None, "", "not provided") else text


def member_ids_of(text: str) -> tuple[str, ...]:
    """The ids of a list as Java or Scala prints one; an id can hold the comma that parts them."""
    listed = _LISTED.fullmatch(text)
    return tuple(_ITEM.findall(listed[1] if listed else text))
