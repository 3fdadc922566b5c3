"""What a template of a coordinator's log line is, and how one matches: fixed text with gaps, some
of which anybody can fill.

Group ids, instance ids and client ids hold whatever a client wants, also the text of another
template. So the text is anchored at both ends, and a gap takes what the fixed text around it
leaves. A line that can be read in two ways, by one template or by two, is not read at all.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_MEMBER = rf".*-{_UUID}|\S+"
"""A broker makes a classic member's id of the client's or instance's id, which can hold anything,
and a UUID; ids of the other protocols (UUIDs as 36 or 22 characters) have no space. An id without
either, which a client of its own making can send, leaves the line unmatched.
"""
_INT = "-?[0-9]{1,10}"
_GAPS = {
    "G": "(?P<group_id>.*)",
    "M": f"(?P<member_id>{_MEMBER})",
    "M1": f"(?P<other_member_id>{_MEMBER})",
    "I": "(?P<instance_id>.*)",
    "p": "(?P<protocol>classic|consumer|share|streams)",
    "E": f"(?P<epoch>{_INT})",
    "n": "(?P<count>[0-9]{1,18})",
    "ms": "(?P<duration_ms>[0-9]{1,18})",
    "P": "__consumer_offsets-(?P<offsets_partition>[0-9]{1,9})",
    "p#": "(?P<offsets_partition>[0-9]{1,9})",
    "S": "(?P<state>[A-Za-z_]+)",
    "R": "(?P<client_reason>.*)",
    "D": "(?P<detail>.*)",
    "Ms": "(?P<member_ids>.*)",
    "client": "(?P<client_id>.*)",
    "host": r"(?P<client_host>\S*)",
    "assignor": "(?P<detail>[^']*)",
    "quoted": "(?P<member_id>.*)",
    "#": "-?[0-9]+",
    "operation": r"(?P<detail>\S+)",
    "w": r"\S*",
    "*": ".*",
    "not streams": r"(?!\[GroupId .*\]\[MemberId )",
    "of no member": r"(?!.*(?:GroupHeartbeatRequestData|JoinGroupRequestData)\()",
    "of no instance": r"(?!(?:endpointInformationEpoch=-?[0-9]+, )?instanceId=')",
    "not temporarily": "(?<! temporarily)",
}
_TOKEN = re.compile(r"<([^<>]+)>|\{([^{}]*)\}")
_BY_OTHERS = frozenset({"G", "I", "R", "D", "Ms", "client", "*"})
_IDS = ("group_id", "member_id", "other_member_id", "instance_id")
NUMBERS = frozenset({"epoch", "count", "duration_ms", "offsets_partition"})
Fields = dict[str, str]


class Template(NamedTuple):
    """event: its name.
    needle: fixed text that every such line has.
    greedy, lazy: the same regex, gaps as long or as short as can be (the lazy one without the
        preference for a line of a Streams member, which has an id in front).
    fixed: fields that the template itself gives.
    free: a gap other than the group can hold what a client wrote.
    """

    event: str
    needle: str
    greedy: re.Pattern[str]
    lazy: re.Pattern[str]
    fixed: tuple[tuple[str, str], ...]
    free: bool


def template(event: str, text: str, **fixed: str) -> Template:
    """text: fixed text with gaps `<name>` (`_GAPS`) and alternatives `{a|b|}` of fixed text."""
    regex, needle, at, free = "", "", 0, False
    for found in _TOKEN.finditer(text):
        literal = text[at : found.start()]
        needle = max(needle, literal, key=len)
        gap = found[1]
        regex += re.escape(literal)
        regex += (
            _GAPS[gap]
            if gap is not None
            else "(?:" + "|".join(re.escape(one) for one in found[2].split("|")) + ")"
        )
        free = free or (gap in _BY_OTHERS and gap != "G")
        at = found.end()
    needle = max(needle, text[at:], key=len)
    regex += re.escape(text[at:])
    lazy = regex.removeprefix(_GAPS["not streams"]).replace(".*", ".*?").replace(r"\S+", r"\S+?")
    return Template(event, needle, re.compile(regex), re.compile(lazy), tuple(fixed.items()), free)


def match(templates: tuple[Template, ...], text: str) -> tuple[Template, Fields] | None:
    """The template that a message is of, and its gaps. None: of none, or it can be read in more
    than one way.
    """
    for one in templates:
        if one.needle in text:
            found = one.greedy.fullmatch(text)
            if found is not None:
                fields = found.groupdict()
                if (
                    one.free or any(" " in (fields.get(name) or "") for name in _IDS)
                ) and _doubtful(templates, text, fields):
                    return None
                return one, fields
    return None


def _doubtful(templates: tuple[Template, ...], text: str, fields: Fields) -> bool:
    """Whether another reading names another group or member. If there are two readings of one
    template, its longest and its shortest differ.

    One reading needs no look at the others: ids without a space, and no gap that a client fills.
    The text between two gaps has a space.
    """
    for one in templates:
        if one.needle in text:
            for pattern in (one.greedy, one.lazy):
                found = pattern.fullmatch(text)
                if found is not None and not _same(found.groupdict(), fields):
                    return True
    return False


def _same(one: Fields, other: Fields) -> bool:
    return all(one.get(name) == other.get(name) for name in _IDS)
