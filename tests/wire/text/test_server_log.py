"""Lines of the group coordinators: every template in every wording, ids that imitate lines, and
whatever bytes a file holds.
"""

from __future__ import annotations

import re
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupreplay.records.log_events import Damaged, LogEvent, Unmatched
from groupreplay.wire.text import server_templates
from groupreplay.wire.text.broker_clock import BrokerClock
from groupreplay.wire.text.line_layout import DEFAULT_PATTERN, LineLayout
from groupreplay.wire.text.server_log import MESSAGE_MAX, ServerLogParser
from groupreplay.wire.text.server_templates import BY_CLASS, IGNORED
from tests.support.yaml_text import safe_load

SCENARIO = safe_load(
    (Path(__file__).parents[2] / "scenarios" / "server_lines.yaml").read_text(encoding="utf-8")
)
GMM = "org.apache.kafka.coordinator.group.GroupMetadataManager"
AT = "[2026-11-21 06:48:49,686] INFO "
SHARD = "[GroupCoordinator id=1 topic=__consumer_offsets partition=7] "
UUID = "-6b6ee1d0-1f0b-4bd5-b2a7-1f1b9c0a7a10"


def parser(pattern: str = DEFAULT_PATTERN, timezone: str = "UTC") -> ServerLogParser:
    return ServerLogParser(LineLayout.of(pattern), BrokerClock(timezone))


def parse(message: str, logger: str = GMM) -> Any:
    return parser().parse(f"{AT}{SHARD}{message} ({logger})\n".encode())


def told(event: LogEvent) -> dict[str, Any]:
    """The fields that a line tells, beside its event and time."""
    values = {
        one.name: getattr(event, one.name)
        for one in fields(event)
        if one.name not in ("event", "at_ms")
    }
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if value not in (None, ())
    }


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(one, id=f"{one['event']} {number}")
        for number, one in enumerate(SCENARIO["cases"])
    ],
)
def test_a_worked_line(case: dict[str, Any]) -> None:
    event = parser().parse(case["line"].encode())
    assert isinstance(event, LogEvent)
    assert (event.event, told(event)) == (case["event"], case.get("fields", {}))


def test_every_template_has_a_worked_line() -> None:
    entries = [LineLayout.of(DEFAULT_PATTERN).split(one["line"]) for one in SCENARIO["cases"]]
    messages = [entry.message for entry in entries if entry is not None]
    for one in dict.fromkeys(one for templates in BY_CLASS.values() for one in templates):
        assert any(
            one.greedy.fullmatch(text[at:])
            for text in messages
            for at in (0, text.find("] ") + 2, text.find("]: ") + 3)
        ), one.greedy.pattern


def test_every_event_is_a_name_of_the_module() -> None:
    names = {
        value for name, value in vars(server_templates).items() if name.isupper() and name == value
    }
    assert {one.event for templates in BY_CLASS.values() for one in templates} == names


def test_a_line_of_another_logger_is_counted() -> None:
    assert parse("Member m left the consumer group.", "kafka.server.KafkaServer") == Unmatched(
        "kafka.server.KafkaServer"
    )
    assert parse("A line of a later release.") == Unmatched(GMM)


def test_lines_that_tell_nothing_of_a_group_are_known() -> None:
    for name in IGNORED:
        assert parse("whatever", f"org.apache.kafka.coordinator.{name}").event == "HOUSEKEEPING"
    share = (
        b"[2026-11-21 06:48:49,686] INFO [ShareCoordinator id=1] Finished loading of metadata from"
        b" __share_group_state-7 with epoch 2 in 1ms where"
    )
    share += (
        b" 0ms was spent in the scheduler. Loaded 0 records which total to 0 bytes."
        b" (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)"
    )
    assert told(parser().parse(share)) == {}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("%d %-5p [%c{1}] %m%n", "2026-11-21 06:48:49,686 INFO  [GroupMetadataManager] "),
        (
            "%d %-5p [%c{1.}] %m%n",
            "2026-11-21 06:48:49,686 INFO  [o.a.k.c.g.GroupMetadataManager] ",
        ),
        ("%d %p %m%n", "2026-11-21 06:48:49,686 INFO "),
        ("%d{yyyy-MM-dd HH:mm:ss,SSS}{America/New_York} %p %m%n", "2026-11-21 01:48:49,686 INFO "),
    ],
)
def test_a_layout_of_ones_own(pattern: str, line: str) -> None:
    event = parser(pattern).parse(
        f"{line}{SHARD}[GroupId g] Member m left the consumer group.".encode()
    )
    assert isinstance(event, LogEvent)
    assert (event.event, event.group_id, event.at_ms) == ("MEMBER_LEFT", "g", 1_795_243_729_686)
    assert isinstance(parser(pattern).parse(f"{line}Registered a bean".encode()), Unmatched)


# ------------------------------------------------------------ ids that hold whatever a client wants

WILD = [
    "a b",
    "(x)",
    "g (kafka.Other)",
    "x] [GroupId y",
    "x] Member m left the consumer group.",
    "x][MemberId m] Member joins the streams group.",
    "x in state Stable with old generation 3 (reason: y",
    "x with generation 3 is now empty.",
    "x generation 3 with 5 members.",
    "x for group y for generation 1. The group has 1 members, 1 of which are static.",
    "v] Static member i with instance id j temporarily left the consumer group.",
    (
        "[2026-11-21 06:48:49,686] INFO [GroupCoordinator id=1 topic=__consumer_offsets"
        " partition=0] [GroupId v"
    ),
    "a] Dynamic member m has left group through explicit `LeaveGroup` request; client reason: x",
    "'\"{}\\",
]
GROUP_LINES = [
    "[GroupId {g}] Member {m} left the consumer group.",
    "[GroupId {g}] Member {m} joins the consumer group using the consumer protocol.",
    "[GroupId {g}] Bumped group epoch to 4 with metadata hash 5.",
    "[GroupId {g}] Static member {m} with instance id i temporarily left the consumer group.",
    (
        "[GroupId {g}] Member {m} fenced from the group because it failed to transition from epoch"
        " 4 within 9ms."
    ),
    "[Group {g}] Member {m} has left group through explicit `LeaveGroup` request; client reason: r",
    (
        "Preparing to rebalance group {g} in state PreparingRebalance with old generation 4"
        " (reason: removing member {m} on heartbeat expiration.)."
    ),
    "Stabilized group {g} generation 4 with 3 members.",
    "Group {g} with generation 4 is now empty.",
    (
        "Assignment received from leader {m} for group {g} for generation 4. The group has 2"
        " members, 1 of which are static."
    ),
    "Member {m} in group {g} has failed, removing it from the group.",
    "Group {g} removed dynamic members who haven't joined: [{m}]",
    (
        "Cannot upgrade classic group {g} to consumer group because the group size exceeds the"
        " consumer group maximum size."
    ),
    "Loaded classic group {g} with 4 members.",
]


@pytest.mark.parametrize("group", WILD)
@pytest.mark.parametrize("line", GROUP_LINES)
def test_a_group_that_imitates_a_line_gives_its_own_event_or_none(line: str, group: str) -> None:
    plain = parse(line.format(g="orders", m="app" + UUID))
    event = parse(line.format(g=group, m="app" + UUID))
    if isinstance(event, LogEvent):
        assert told(event) == {**told(plain), "group_id": group}
        assert event.event == plain.event
    else:
        assert event == Unmatched(GMM)


@pytest.mark.parametrize(
    "group",
    [
        "a b",
        "(x)",
        "g (kafka.Other)",
        "x] [GroupId y",
        "x] Member m left the consumer group.",
        "'\"{}\\",
    ],
)
def test_a_group_that_cannot_be_taken_for_another_is_read(group: str) -> None:
    assert parse(f"[GroupId {group}] Member m left the consumer group.").group_id == group
    assert parse(f"Stabilized group {group} generation 4 with 3 members.").group_id == group


@pytest.mark.parametrize(
    "client",
    [
        *WILD,
        "in group v has failed, removing it from the group.",
        "app-6b6ee1d0-1f0b-4bd5-b2a7-1f1b9c0a7a10 in group v",
    ],
)
@pytest.mark.parametrize("line", GROUP_LINES)
def test_a_client_that_imitates_a_line_gives_no_event_of_another_group(
    line: str, client: str
) -> None:
    event = parse(line.format(g="orders", m=client + UUID))
    assert event == Unmatched(GMM) or event.group_id == "orders"


@pytest.mark.parametrize("reason", WILD)
def test_a_reason_that_imitates_a_line_gives_no_event_of_another_group(reason: str) -> None:
    for line in (
        (
            "[Group orders] Member m{u} has left group through explicit `LeaveGroup` request;"
            " client reason: {r}"
        ),
        (
            "[GroupId orders] Dynamic member m{u} has left group through explicit `LeaveGroup`"
            " request; client reason: {r}"
        ),
        (
            "Preparing to rebalance group orders in state PreparingRebalance with old generation 4"
            " (reason: Removing member m{u} on LeaveGroup; client reason: {r})."
        ),
    ):
        event = parse(line.format(u=UUID, r=reason))
        assert event == Unmatched(GMM) or (
            event.group_id,
            event.member_id,
            event.client_reason,
        ) == ("orders", "m" + UUID, reason)


def test_a_group_that_breaks_its_line_hides_itself_and_forges_nothing() -> None:
    reader = parser()
    forged = f"{AT}{SHARD}[GroupId victim] Member m left the consumer group. ({GMM})"
    lines = f"{AT}{SHARD}[GroupId evil\nmore\n{forged}\n] Member m left the consumer group. ({GMM})\n{forged}".encode().split(
        b"\n"
    )
    assert [type(reader.parse(line)) for line in lines] == [
        Unmatched,
        type(None),
        type(None),
        type(None),
        LogEvent,
    ]


# ---------------------------------------------------------------- whatever a file holds


def test_an_exception_and_a_message_of_several_lines_continue_their_event() -> None:
    reader = parser()
    assert reader.parse(b"\tat x.y(Z.java:1)") == Damaged(
        "No line of this layout has been seen yet, and this is none."
    )
    assert reader.parse(b"[2026-11-21 05:42:15,764] INFO KafkaConfig values: \r\n") == Unmatched("")
    for line in (
        b"\tbroker.id = 1",
        b" (kafka.server.KafkaConfig)",
        b"java.lang.Exception: x",
        b"\tat x.y(Z.java:1)",
        b"",
    ):
        assert reader.parse(line) is None


def test_bytes_that_are_no_text_are_kept_readable() -> None:
    event = parser().parse(
        f"\ufeff{AT}{SHARD}[GroupId caf".encode()
        + b"\xe9] Member m left the consumer group. ("
        + GMM.encode()
        + b")\r\n"
    )
    assert isinstance(event, LogEvent)
    assert event.group_id == "caf\\xe9"


@given(st.binary())
def test_any_bytes_give_a_result(line: bytes) -> None:
    reader = parser()
    head = f"{AT}{SHARD}[GroupId ".encode()
    for one in (
        line,
        head + line,
        head + line + f"] Member m left the consumer group. ({GMM})".encode(),
        line,
    ):
        assert isinstance(reader.parse(one), LogEvent | Unmatched | Damaged | None)


@given(
    st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), min_size=1),
    st.sampled_from(GROUP_LINES),
)
def test_any_group_gives_its_own_event_or_none(group: str, line: str) -> None:
    event = parse(line.format(g=group, m="app" + UUID))
    assert event == Unmatched(GMM) or event.group_id == group


@pytest.mark.parametrize(
    "piece",
    [
        "] Member x",
        "] Static member x with instance id y",
        " in state S with old generation 1 (reason: ",
        " for group x" + UUID,
    ],
)
def test_a_long_id_made_of_pieces_of_lines_takes_no_time(piece: str) -> None:
    for size in (8_000, MESSAGE_MAX + 1):
        group = (piece * (size // len(piece) + 1))[:size]
        begun = time.perf_counter()
        for line in GROUP_LINES:
            event = parse(line.format(g=group, m="app" + UUID))
            assert event == Unmatched(GMM) or event.group_id == group
        assert time.perf_counter() - begun < 5


PIECES = [one["line"].removesuffix(")").rpartition(" (")[0][30:] for one in SCENARIO["cases"]]


@st.composite
def made_of_lines(draw: st.DrawFn) -> str:
    """An id made of pieces of worked lines, cut at words."""
    made = ""
    for _ in range(draw(st.integers(1, 3))):
        words = re.split(r"(?<=[ \]\[(=])", draw(st.sampled_from(PIECES)))
        begin = draw(st.integers(0, len(words) - 1))
        made += "".join(words[begin : draw(st.integers(begin + 1, len(words)))]) + draw(
            st.sampled_from(["", "x", "v] "])
        )
    return made


@given(made_of_lines(), made_of_lines(), st.sampled_from(GROUP_LINES))
def test_ids_made_of_pieces_of_lines_give_their_own_event_or_none(
    group: str, client: str, line: str
) -> None:
    event = parse(line.format(g=group, m="app" + UUID))
    assert event == Unmatched(GMM) or event.group_id == group
    event = parse(line.format(g="orders", m=client + UUID))
    assert event == Unmatched(GMM) or event.group_id == "orders"
