"""The request log: real lines of every API and error, envelopes and layouts, imitations, damage, and the search that passes over everything else."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import fields
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from groupreplay.log_records import Damaged, LogEvent
from groupreplay.wire.request_fields import client_host
from groupreplay.wire.request_log import GROUP_APIS, LineScanner, RequestLogParser

CASES = yaml.safe_load((Path(__file__).parents[1] / "scenarios" / "request_lines.yaml").read_text(encoding="utf-8"))["cases"]
LINES = [case["line"].encode() for case in CASES]
HEARTBEAT = next(
    case["line"] for case in CASES if case["events"][0]["event"] == "CONSUMER_GROUP_HEARTBEAT" and "instance_id" not in case["events"][0]
)
DOCUMENT = json.loads(HEARTBEAT[HEARTBEAT.index("{") : HEARTBEAT.rindex("}") + 1])
AT = "2026-11-21 06:17:45,983"
AT_MS = 1795241865983


def to_ms(text: str) -> int | None:
    """Kafka's own form of time, read as UTC."""
    try:
        elapsed = datetime.strptime(text, "%Y-%m-%d %H:%M:%S,%f") - datetime(1970, 1, 1)
    except ValueError:
        return None
    return round(elapsed.total_seconds() * 1000)


PARSER = RequestLogParser(to_ms)


def document(key: int = 68, **changes: Any) -> dict[str, Any]:
    """A recorded heartbeat with another key, request, response or other top-level fields."""
    made: dict[str, Any] = deepcopy(DOCUMENT)
    made["requestHeader"] |= {"requestApiKey": key, "requestApiKeyName": GROUP_APIS.get(key, "FETCH")}
    return made | changes


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def line(made: Any) -> bytes:
    return f"[{AT}] DEBUG Completed request:{compact(made)} (kafka.request.logger)".encode()


def events(parsed: object) -> list[LogEvent]:
    assert isinstance(parsed, list), parsed
    return parsed


def only(parsed: object) -> LogEvent:
    (event,) = events(parsed)
    return event


def told(event: LogEvent) -> dict[str, Any]:
    return {one.name: value for one in fields(event) if (value := getattr(event, one.name)) not in (None, ())}


# ---------------------------------------------------------------- what the lines say


@pytest.mark.parametrize("case", CASES, ids=[case["at"] for case in CASES])
def test_a_real_line_says_what_the_scenario_says(case: dict[str, Any]) -> None:
    assert [told(event) for event in events(PARSER.parse(case["line"].encode()))] == case["events"]


def test_every_group_api_but_one_has_a_real_line() -> None:
    assert set(GROUP_APIS.values()) - {event["event"] for case in CASES for event in case["events"]} == {"OFFSET_DELETE"}


def test_every_api_of_another_kind_is_none() -> None:
    for key in set(range(-1, 100)) - set(GROUP_APIS):
        assert PARSER.parse(line(document(key))) is None


def test_a_leave_of_several_has_an_event_for_each() -> None:
    asked = [{"memberId": "a", "groupInstanceId": None, "reason": "bye"}, {"memberId": "", "groupInstanceId": "i"}]
    answers = [{"memberId": "a", "groupInstanceId": None, "errorCode": 25}, {"memberId": "", "groupInstanceId": "i", "errorCode": 0}]
    made = document(13, request={"groupId": "g", "members": asked}, response={"errorCode": 0, "members": answers})
    left = events(PARSER.parse(line(made)))
    assert [(one.member_id, one.instance_id, one.client_reason, one.error_code) for one in left] == [("a", None, "bye", 25), (None, "i", None, 0)]
    refused = document(13, request={"groupId": "g", "members": asked}, response={"errorCode": 16, "members": []})
    assert [one.error_code for one in events(PARSER.parse(line(refused)))] == [16, 16]


def test_deleted_groups_have_an_event_each() -> None:
    results = [{"groupId": "b", "errorCode": 68}, {"groupId": "a", "errorCode": 0}]
    made = document(42, request={"groupsNames": ["a", "b"]}, response={"results": results})
    assert [(one.group_id, one.error_code, one.member_id) for one in events(PARSER.parse(line(made)))] == [("a", 0, None), ("b", 68, None)]


@pytest.mark.parametrize(("top", "partitions", "expected"), [(0, [0, 86, 3], 86), (69, [], 69), (0, [0], 0)])
def test_deleted_offsets_name_the_first_error(top: int, partitions: list[int], expected: int) -> None:
    topics = [{"name": "t", "partitions": [{"partitionIndex": i, "errorCode": code} for i, code in enumerate(partitions)]}]
    made = document(47, request={"groupId": "g", "topics": []}, response={"errorCode": top, "topics": topics})
    event = only(PARSER.parse(line(made)))
    assert (event.event, event.group_id, event.error_code, event.protocol) == ("OFFSET_DELETE", "g", expected, None)


def test_a_commit_counts_what_was_committed_and_names_the_first_error() -> None:
    topics = [
        {"name": t, "partitions": [{"partitionIndex": i, "errorCode": code} for i, code in enumerate(codes)]}
        for t, codes in (("a", [0, 0]), ("b", [0, 29, 3]))
    ]
    made = document(8, request={"groupId": "", "generationId": 7, "memberId": "m"}, response={"topics": topics})
    event = only(PARSER.parse(line(made)))
    assert (event.group_id, event.epoch, event.count, event.error_code) == ("", 7, 3, 29)


def test_without_client_information_the_rest_is_told() -> None:
    made = document(principal=None, clientInformation=None)
    del made["connection"]
    event = only(PARSER.parse(line(made)))
    assert (event.principal, event.client_host, event.software_name, event.group_id) == (None, None, None, DOCUMENT["request"]["groupId"])


@pytest.mark.parametrize(
    ("connection", "host"),
    [
        ("127.0.0.1:19092-10.1.2.3:57864-1-7", "/10.1.2.3"),
        ("127.0.0.1:19092-10.1.2.3:57864-1", "/10.1.2.3"),
        ("127.0.0.1:19092-10.1.2.3:57864-1-7-2", "/10.1.2.3"),
        ("0:0:0:0:0:0:0:1:9092-0:0:0:0:0:0:0:1:57864-0-3", "/0:0:0:0:0:0:0:1"),
        ("2001:db8:0:0:0:0:0:1:9092-2001:db8:0:0:0:0:0:ff:57864-0-3", "/2001:db8:0:0:0:0:0:ff"),
        ("fe80:0:0:0:1:2:3:4%br-7-1:9092-fe80:0:0:0:1:2:3:5%br-7-1:57864-0-3", "/fe80:0:0:0:1:2:3:5%br-7-1"),
        ("0:0:0:0:0:ffff:7f00:1:9092-10.0.0.1:1-0-3", "/10.0.0.1"),
        ("127.0.0.1:19092-10.1.2.3:57864", None),
        ("nonsense", None),
        ("1:1-" * 1_000_000, None),
        ("", None),
    ],
    ids=lambda value: str(value)[:60],
)
def test_the_client_host_is_the_remote_address(connection: str, host: str | None) -> None:
    assert client_host(connection) == host


# ---------------------------------------------------------------- where lines come from


@pytest.mark.parametrize(
    "before",
    [
        f"[{AT}] DEBUG ",
        f"[{AT}] INFO ",
        f"{AT} DEBUG ",
        f"{AT} [data-plane-kafka-request-handler-3] INFO  kafka.request.logger - ",
        f"{AT} INFO  [data-plane-kafka-network-thread-1-ListenerName(PLAINTEXT)-PLAINTEXT-3] kafka.request.logger - ",
        f"{AT} DEBUG k.r.logger: ",
        f"{AT} | DEBUG | data-plane-kafka-request-handler-3 | kafka.request.logger | ",
        f"DEBUG {AT} ",
        f"{AT} ",
        f"2026-11-21T06:17:46.101234567Z stdout F [{AT}] DEBUG ",
        f"Nov 21 06:17:46 broker-1 kafka[812]: [{AT}] DEBUG ",
        f"2026-11-21T06:17:46Z stderr F {AT} DEBUG ",
    ],
)
@pytest.mark.parametrize("after", ["", " (kafka.request.logger)", " (kafka.request.logger)\r", "} and more"])
def test_any_layout_that_holds_the_request_is_read(before: str, after: str) -> None:
    parsed = PARSER.parse(f"{before}Completed request:{compact(DOCUMENT)}{after}".encode())
    assert only(parsed) == only(PARSER.parse(line(DOCUMENT)))
    assert only(parsed).at_ms == AT_MS


@pytest.mark.parametrize(
    ("field", "envelope"),
    [
        ("log", {"stream": "stdout", "log": line(DOCUMENT).decode() + "\n"}),
        ("message", {"@timestamp": "2026-11-21T06:17:46Z", "message": line(DOCUMENT).decode()}),
        ("event.original", {"event": {"original": line(DOCUMENT).decode()}}),
        ("event.original", {"event.original": line(DOCUMENT).decode()}),
    ],
)
def test_a_line_inside_other_json_is_found_and_read(field: str, envelope: dict[str, Any]) -> None:
    shipped = json.dumps(envelope).encode()
    assert list(LineScanner().group_lines([shipped])) == [(0, shipped)]
    assert RequestLogParser(to_ms, field).parse(shipped) == PARSER.parse(line(DOCUMENT))
    assert PARSER.parse(shipped) == Damaged("other JSON around the line, and no field of the message is configured")
    assert RequestLogParser(to_ms, "body").parse(shipped) == Damaged("no request at the configured field body")


@pytest.mark.parametrize(
    "time",
    ["2026-11-21T06:17:45.983Z", "2026-11-21T07:17:45.983456789+01:00", AT, 1795241865983, "1795241865983", "1795241865983000000", 1795241865.9831],
)
@pytest.mark.parametrize("message", [compact(DOCUMENT), "Completed request:" + compact(DOCUMENT), DOCUMENT])
def test_a_message_without_a_time_has_that_of_its_shipping_if_configured(message: object, time: object) -> None:
    shipped = compact({"fields": {"time": time}, "message": message}).encode()
    assert RequestLogParser(to_ms, "message", "fields.time").parse(shipped) == PARSER.parse(line(DOCUMENT))
    assert RequestLogParser(to_ms, "message").parse(shipped) == Damaged("no time that can be read stands before the request")


@pytest.mark.parametrize("time", [None, "yesterday", "2026-11-21T06:17:45", True, -5, "9" * 40, {}, 10**30])
def test_a_time_of_shipping_that_is_none_is_damage(time: object) -> None:
    shipped = compact({"time": time, "message": DOCUMENT}).encode()
    assert RequestLogParser(to_ms, "message", "time").parse(shipped) == Damaged("no time that can be read stands before the request")


def test_the_line_s_own_time_goes_before_that_of_shipping() -> None:
    shipped = compact({"time": 1, "message": line(DOCUMENT).decode()}).encode()
    assert only(RequestLogParser(to_ms, "message", "time").parse(shipped)).at_ms == AT_MS


def test_a_plain_line_is_read_whatever_field_is_configured() -> None:
    assert RequestLogParser(to_ms, "log").parse(line(DOCUMENT)) == PARSER.parse(line(DOCUMENT))


def test_the_text_alone_needs_a_time() -> None:
    bare = compact(DOCUMENT)
    for text in (bare, "Completed request:" + bare):
        assert PARSER.parse(text.encode()) == Damaged("no time that can be read stands before the request")
        assert PARSER.read_message(text, AT_MS) == PARSER.parse(line(DOCUMENT))
    assert PARSER.parse(compact(document(1)).encode()) is None
    assert PARSER.read_message("Loaded 5 records", AT_MS) is None
    assert PARSER.read_message("Completed request:{", AT_MS) == Damaged("the JSON is broken, cut or none")


@pytest.mark.parametrize(
    "other", ["", "[GroupCoordinator 1]: Stabilized group g", f"[{AT}] INFO [GroupCoordinator 1]: Startup complete. (x.Y)", '{"log":"x"}', "\x00"]
)
def test_lines_of_other_loggers_are_none(other: str) -> None:
    assert PARSER.parse(other.encode()) is None


# ---------------------------------------------------------------- imitations


IMITATIONS = [
    '"requestApiKey":68,',
    '\\"requestApiKey\\":68,',
    "Completed request:{",
    f'"}}}} (kafka.request.logger) [{AT}] DEBUG Completed request:{compact(DOCUMENT)}',
    line(DOCUMENT).decode(),
    "\n" + line(DOCUMENT).decode() + "\n",
    "] INFO [ \u2028 \x00 \udc80",
]


@pytest.mark.parametrize("group", IMITATIONS)
@pytest.mark.parametrize("key", [68, 12, 1])
def test_a_name_that_imitates_a_line_is_a_name(group: str, key: int) -> None:
    made = document(key, request={"groupId": group, "memberId": "m", "memberEpoch": 1, "generationId": 1}, response={"errorCode": 0})
    written = line(made)
    parsed = PARSER.parse(written)
    if key == 1:
        assert parsed is None
    else:
        assert only(parsed).group_id == group.replace("\udc80", "\\x80")
        assert [text for _, text in LineScanner().group_lines([written])] == [written]
        assert RequestLogParser(to_ms, "log").parse(compact({"log": written.decode()}).encode()) == parsed


@pytest.mark.parametrize(
    "group", [f"Completed request:{compact(DOCUMENT)}", f"] Completed request:{compact(DOCUMENT)}", f"INFO Completed request:{compact(DOCUMENT)}"]
)
@pytest.mark.parametrize(
    "other",
    [
        f"[{AT}] INFO [GroupCoordinator 1]: Preparing to rebalance group %s in state Stable (kafka.coordinator.group.GroupCoordinator)",
        f"[{AT}] INFO [GroupCoordinator id=1] [GroupId %s] Member m left (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        f"[{AT}] INFO %s (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        f"{AT} INFO  [kafka-request-handler-1] o.a.k.c.g.GroupMetadataManager - [GroupId %s] Member m left",
        f"{AT} INFO Preparing to rebalance group %s in state Stable",
    ],
)
def test_a_name_printed_by_another_logger_is_no_request(other: str, group: str) -> None:
    parsed = PARSER.parse((other % group).encode())
    assert parsed is None or parsed == Damaged("words of no layout that is known stand before the request")


# ---------------------------------------------------------------- damage


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
        ({"request": {"groupId": "g", "memberEpoch": 1 << 31}}, "memberEpoch is no whole number of 32 bits"),
        ({"request": {"groupId": "g", "memberEpoch": 1.0}}, "memberEpoch is no whole number of 32 bits"),
    ],
)
def test_a_field_of_another_type_is_damage_with_its_name(changes: dict[str, Any], reason: str) -> None:
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
def test_lists_of_another_shape_are_damage(key: int, request_: dict[str, Any], response: dict[str, Any]) -> None:
    assert isinstance(PARSER.parse(line(document(key, request=request_, response=response))), Damaged)


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
        assert isinstance(parser.parse(f"[{AT}] DEBUG Completed request:{text} (kafka.request.logger)".encode()), Damaged)
        parser.parse(text.encode())
        parser.parse(compact({"log": text, "time": text}).encode())


def test_a_time_that_cannot_be_read_is_damage() -> None:
    assert PARSER.parse(line(DOCUMENT).replace(b"2026-11-21", b"21.11.2026")) == Damaged("no time that can be read stands before the request")


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


@given(st.binary(max_size=300), st.sampled_from([b"", f"[{AT}] DEBUG Completed request:".encode(), b"Completed request:", b"{"]))
def test_any_bytes_give_a_result(data: bytes, before: bytes) -> None:
    for parser in (PARSER, RequestLogParser(to_ms, "a.b", "a.t")):
        assert holds(parser.parse(before + data))


ODD: list[Any] = [None, True, 0, -1, 1 << 40, 1.5, "", "x", "\ud800", [], [[]], ["x"], {}, [{}], {"x": 0}]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
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


@given(st.sampled_from(LINES), st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=3)), min_size=1, max_size=4))
def test_changed_bytes_give_a_result(written: bytes, changes: list[tuple[float, bytes]]) -> None:
    for where, what in changes:
        at = int(where * len(written))
        written = written[:at] + what + written[at + len(what) :]
    assert holds(PARSER.parse(written))


# ---------------------------------------------------------------- the search


def scan(chunks: list[bytes], longest: int = 1 << 24) -> tuple[list[tuple[int, bytes]], int, int]:
    scanner = LineScanner(longest=longest)
    found = list(scanner.group_lines(chunks))
    return found, scanner.lines_read, scanner.too_long


def test_only_lines_of_group_apis_are_found_and_all_are_counted() -> None:
    other = line(document(1))
    text = b"\n".join([other, LINES[0], b"", other, LINES[1] + b"\r", b"nothing", LINES[2]])
    found, lines_read, too_long = scan([text])
    assert [written for _, written in found] == LINES[:3]
    assert all(text[position:].startswith(written) for position, written in found)
    assert (lines_read, too_long) == (7, 0)
    assert scan([text + b"\n"]) == (found, 7, 0)


PIECES = st.sampled_from(
    [b"\n", b"\r\n", b"x", b"yy" * 30, b'"requestApiKey":68,', b'\\"requestApiKey\\":12}', b'"requestApiKey":1,', b'"requestApiKey":6']
)


@given(st.lists(PIECES, max_size=30).map(b"".join), st.lists(st.integers(0, 400), max_size=8), st.sampled_from([1 << 24, 25, 70]))
def test_chunks_do_not_matter(text: bytes, cuts: list[int], longest: int) -> None:
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    expected, too_long, position = [], 0, 0
    lines = text.split(b"\n")
    for one in lines:
        if len(one) > longest:
            too_long += 1
        elif any(needle in one for needle in (b'requestApiKey":68,', b'requestApiKey\\":12}')):
            expected.append((position, one.removesuffix(b"\r")))
        position += len(one) + 1
    result = scan([text[start:end] for start, end in pairwise(edges)], longest)
    assert result == (expected, len(lines) - (not lines[-1]), too_long)


def test_a_line_of_50_mb_is_passed_over_and_never_held() -> None:
    begin, chunk = line(DOCUMENT)[:-1], b"x" * (1 << 20)
    scanner = LineScanner(position=100)
    held = 0

    def chunks() -> Any:
        nonlocal held
        yield begin
        for _ in range(50):
            yield chunk
            held = max(held, sum(map(len, scanner._pieces)))
        yield b"\n" + LINES[0] + b"\n"

    assert list(scanner.group_lines(chunks())) == [(100 + len(begin) + 50 * len(chunk) + 1, LINES[0])]
    assert (scanner.lines_read, scanner.too_long) == (2, 1)
    assert held <= 16 << 20


def test_the_search_starts_where_a_split_does() -> None:
    assert list(LineScanner(position=7).group_lines([b"a\n" + LINES[0]])) == [(9, LINES[0])]
