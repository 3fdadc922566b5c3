"""Damage in the request log: whatever stands in a line, it gives a request, a reason, or
nothing.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groupreplay.records.log_events import Damaged, LogEvent
from groupreplay.wire.text.request_log import RequestLogParser
from tests.wire.text.request_lines import (
    AT,
    DOCUMENT,
    LINES,
    PARSER,
    compact,
    document,
    line,
    only,
    to_ms,
    told,
)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"requestHeader": None}, "requestHeader is no object"),
        ({"requestHeader": {"requestApiKey": "68"}}, "requestApiKey is no whole number of 32 bits"),
        ({"requestHeader": {"requestApiKey": 68, "clientId": 7}}, "clientId is no text"),
        ({"request": []}, "request is no object"),
        ({"response": None}, "response is no object"),
        ({"response": {}}, "errorCode is missing"),
        ({"response": {"errorCode": True}}, "errorCode is no whole number of 32 bits"),
        ({"response": {"errorCode": 0, "errorMessage": {}}}, "errorMessage is no text"),
        ({"totalTimeMs": None}, "totalTimeMs is no time in milliseconds"),
        ({"totalTimeMs": True}, "totalTimeMs is no time in milliseconds"),
        ({"totalTimeMs": -1}, "totalTimeMs is no time in milliseconds"),
        ({"totalTimeMs": 10**400}, "totalTimeMs is no time in milliseconds"),
        ({"connection": ["127.0.0.1"]}, "connection is no text"),
        ({"clientInformation": "java"}, "clientInformation is no object"),
        ({"request": {"groupId": ["g"]}}, "groupId is no text"),
        ({"request": {"groupId": None}}, "groupId is missing"),
        (
            {"request": {"groupId": "g", "memberEpoch": 1 << 31}},
            "memberEpoch is no whole number of 32 bits",
        ),
        (
            {"request": {"groupId": "g", "memberEpoch": 1.0}},
            "memberEpoch is no whole number of 32 bits",
        ),
    ],
)
def test_a_field_of_another_type_is_damage_with_its_name(
    changes: dict[str, Any], reason: str
) -> None:
    assert PARSER.parse(line(document() | changes)) == Damaged(reason)


@pytest.mark.parametrize(
    ("key", "request_", "response"),
    [
        (8, {"groupId": "g"}, {}),
        (8, {"groupId": "g"}, {"topics": [{"partitions": 3}]}),
        (8, {"groupId": "g"}, {"topics": [[]]}),
        (13, {"groupId": "g", "members": "m"}, {"errorCode": 0}),
        (13, {"groupId": "g", "members": [None]}, {"errorCode": 0, "members": []}),
        (42, {}, {"results": []}),
        (42, {"groupsNames": [1]}, {"results": []}),
        (42, {"groupsNames": ["g"]}, {"results": [{"errorCode": 0}]}),
    ],
)
def test_lists_of_another_shape_are_damage(
    key: int, request_: dict[str, Any], response: dict[str, Any]
) -> None:
    assert isinstance(
        PARSER.parse(line(document(key, request=request_, response=response))), Damaged
    )


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        "{",
        "null",
        "",
        "RequestHeader(apiKey=HEARTBEAT)",
        '{"requestHeader":{"requestApiKey":' + "6" * 5000 + "}}",
        compact(DOCUMENT).replace(str(DOCUMENT["totalTimeMs"]), "NaN"),
        compact(DOCUMENT).replace(str(DOCUMENT["totalTimeMs"]), "1e999"),
    ],
)
def test_text_that_is_no_request_is_damage(text: str) -> None:
    for parser in (PARSER, RequestLogParser(to_ms, "log", "time")):
        assert isinstance(
            parser.parse(f"[{AT}] DEBUG Completed request:{text} (kafka.request.logger)".encode()),
            Damaged,
        )
        parser.parse(text.encode())
        parser.parse(compact({"log": text, "time": text}).encode())


def test_a_time_that_cannot_be_read_is_damage() -> None:
    assert PARSER.parse(line(DOCUMENT).replace(b"2026-11-21", b"21.11.2026")) == Damaged(
        "no time that can be read stands before the request"
    )


def test_bytes_that_are_no_utf_8_stay_visible() -> None:
    made = document(request={"groupId": "g?", "memberId": "grün\ud800", "memberEpoch": 1})
    event = only(PARSER.parse(line(made).replace(b"g?", b"g\xff\xc3")))
    assert (event.group_id, event.member_id) == ("g\\xff\\xc3", "grün\\ud800")


@pytest.mark.parametrize("written", LINES[::9])
def test_a_line_cut_anywhere_gives_what_it_said_or_damage_or_none(written: bytes) -> None:
    whole = PARSER.parse(written)
    end = written.rindex(b"}") + 1
    for size in range(len(written)):
        parsed = PARSER.parse(written[:size])
        if size >= end:
            assert parsed == whole
        else:
            assert parsed is None or isinstance(parsed, Damaged)


def holds(parsed: object) -> bool:
    """Any result is of its type, and its texts can be written as UTF-8."""
    if not isinstance(parsed, list):
        return parsed is None or isinstance(parsed, Damaged)
    for event in parsed:
        assert isinstance(event, LogEvent)
        assert type(event.at_ms) is int
        json.dumps(told(event), ensure_ascii=False).encode()
    return True


@given(
    st.binary(max_size=300),
    st.sampled_from(
        [b"", f"[{AT}] DEBUG Completed request:".encode(), b"Completed request:", b"{"]
    ),
)
def test_any_bytes_give_a_result(data: bytes, before: bytes) -> None:
    for parser in (PARSER, RequestLogParser(to_ms, "a.b", "a.t")):
        assert holds(parser.parse(before + data))


ODD: list[Any] = [
    None,
    True,
    0,
    -1,
    1 << 40,
    1.5,
    "",
    "x",
    "\ud800",
    [],
    [[]],
    ["x"],
    {},
    [{}],
    {"x": 0},
]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path] + [place for name, one in items for place in places(one, (*path, name))]


@given(st.sampled_from(LINES), st.data())
def test_any_field_can_be_anything(written: bytes, data: st.DataObject) -> None:
    made = json.loads(written[written.index(b"{") : written.rindex(b"}") + 1])
    place = data.draw(st.sampled_from(places(made)[1:]))
    holder = made
    for name in place[:-1]:
        holder = holder[name]
    if data.draw(st.booleans()):
        holder[place[-1]] = data.draw(st.sampled_from(ODD))
    else:
        del holder[place[-1]]
    assert holds(PARSER.parse(line(made)))


@given(
    st.sampled_from(LINES),
    st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=3)), min_size=1, max_size=4),
)
def test_changed_bytes_give_a_result(written: bytes, changes: list[tuple[float, bytes]]) -> None:
    for where, what in changes:
        at = int(where * len(written))
        written = written[:at] + what + written[at + len(what) :]
    assert holds(PARSER.parse(written))
