"""The request log: real lines of every API and error, envelopes and layouts, and imitations.

Holds wire/text/request_fields.py.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from groupreplay.records.log_events import Damaged
from groupreplay.wire.text.request_fields import client_host
from groupreplay.wire.text.request_log import GROUP_APIS, LineScanner, RequestLogParser
from tests.wire.text.request_lines import (
    AT,
    AT_MS,
    CASES,
    DOCUMENT,
    PARSER,
    compact,
    document,
    events,
    line,
    only,
    to_ms,
    told,
)

# ---------------------------------------------------------------- what the lines say


@pytest.mark.parametrize("case", CASES, ids=[case["at"] for case in CASES])
def test_a_real_line_says_what_the_scenario_says(case: dict[str, Any]) -> None:
    assert [told(event) for event in events(PARSER.parse(case["line"].encode()))] == case["events"]


def test_every_group_api_but_one_has_a_real_line() -> None:
    assert set(GROUP_APIS.values()) - {
        event["event"] for case in CASES for event in case["events"]
    } == {"OFFSET_DELETE"}


def test_every_api_of_another_kind_is_none() -> None:
    for key in set(range(-1, 100)) - set(GROUP_APIS):
        assert PARSER.parse(line(document(key))) is None


def test_a_leave_of_several_has_an_event_for_each() -> None:
    asked = [
        {"memberId": "a", "groupInstanceId": None, "reason": "bye"},
        {"memberId": "", "groupInstanceId": "i"},
    ]
    answers = [
        {"memberId": "a", "groupInstanceId": None, "errorCode": 25},
        {"memberId": "", "groupInstanceId": "i", "errorCode": 0},
    ]
    made = document(
        13,
        request={"groupId": "g", "members": asked},
        response={"errorCode": 0, "members": answers},
    )
    left = events(PARSER.parse(line(made)))
    assert [
        (one.member_id, one.instance_id, one.client_reason, one.error_code) for one in left
    ] == [("a", None, "bye", 25), (None, "i", None, 0)]
    refused = document(
        13, request={"groupId": "g", "members": asked}, response={"errorCode": 16, "members": []}
    )
    assert [one.error_code for one in events(PARSER.parse(line(refused)))] == [16, 16]


def test_deleted_groups_have_an_event_each() -> None:
    results = [{"groupId": "b", "errorCode": 68}, {"groupId": "a", "errorCode": 0}]
    made = document(42, request={"groupsNames": ["a", "b"]}, response={"results": results})
    assert [
        (one.group_id, one.error_code, one.member_id) for one in events(PARSER.parse(line(made)))
    ] == [("a", 0, None), ("b", 68, None)]


@pytest.mark.parametrize(
    ("top", "partitions", "expected"), [(0, [0, 86, 3], 86), (69, [], 69), (0, [0], 0)]
)
def test_deleted_offsets_name_the_first_error(
    top: int, partitions: list[int], expected: int
) -> None:
    topics = [
        {
            "name": "t",
            "partitions": [
                {"partitionIndex": i, "errorCode": code} for i, code in enumerate(partitions)
            ],
        }
    ]
    made = document(
        47, request={"groupId": "g", "topics": []}, response={"errorCode": top, "topics": topics}
    )
    event = only(PARSER.parse(line(made)))
    assert (event.event, event.group_id, event.error_code, event.protocol) == (
        "OFFSET_DELETE",
        "g",
        expected,
        None,
    )


@pytest.mark.parametrize(
    ("top", "topic", "partition", "expected"),
    [(0, 0, 0, 0), (69, 0, 0, 69), (0, 3, 0, 3), (0, None, 29, 29), (68, 3, 29, 68)],
)
def test_offsets_of_share_groups_name_the_first_error(
    top: int, topic: int | None, partition: int, expected: int
) -> None:
    told = {"topicName": "t", "partitions": [{"partitionIndex": 0, "errorCode": partition}]}
    answer = {
        "errorCode": top,
        "errorMessage": "said",
        "responses": [told if topic is None else told | {"errorCode": topic}],
    }
    event = only(PARSER.parse(line(document(91, request={"groupId": "g"}, response=answer))))
    assert (event.event, event.group_id, event.error_code, event.detail) == (
        "ALTER_SHARE_GROUP_OFFSETS",
        "g",
        expected,
        "said",
    )


def test_a_commit_counts_what_was_committed_and_names_the_first_error() -> None:
    topics = [
        {
            "name": t,
            "partitions": [
                {"partitionIndex": i, "errorCode": code} for i, code in enumerate(codes)
            ],
        }
        for t, codes in (("a", [0, 0]), ("b", [0, 29, 3]))
    ]
    made = document(
        8, request={"groupId": "", "generationId": 7, "memberId": "m"}, response={"topics": topics}
    )
    event = only(PARSER.parse(line(made)))
    assert (event.group_id, event.epoch, event.count, event.error_code) == ("", 7, 3, 29)


def test_without_client_information_the_rest_is_told() -> None:
    made = document(principal=None, clientInformation=None)
    del made["connection"]
    event = only(PARSER.parse(line(made)))
    assert (event.principal, event.client_host, event.software_name, event.group_id) == (
        None,
        None,
        None,
        DOCUMENT["request"]["groupId"],
    )


@pytest.mark.parametrize(
    ("connection", "host"),
    [
        ("127.0.0.1:19092-10.1.2.3:57864-1-7", "/10.1.2.3"),
        ("127.0.0.1:19092-10.1.2.3:57864-1", "/10.1.2.3"),
        ("127.0.0.1:19092-10.1.2.3:57864-1-7-2", "/10.1.2.3"),
        ("0:0:0:0:0:0:0:1:9092-0:0:0:0:0:0:0:1:57864-0-3", "/0:0:0:0:0:0:0:1"),
        ("2001:db8:0:0:0:0:0:1:9092-2001:db8:0:0:0:0:0:ff:57864-0-3", "/2001:db8:0:0:0:0:0:ff"),
        (
            "fe80:0:0:0:1:2:3:4%br-7-1:9092-fe80:0:0:0:1:2:3:5%br-7-1:57864-0-3",
            "/fe80:0:0:0:1:2:3:5%br-7-1",
        ),
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
        (
            f"{AT} INFO  [data-plane-kafka-network-thread-1-ListenerName(PLAINTEXT)-PLAINTEXT-3]"
            " kafka.request.logger - "
        ),
        f"{AT} DEBUG k.r.logger: ",
        f"{AT} | DEBUG | data-plane-kafka-request-handler-3 | kafka.request.logger | ",
        f"DEBUG {AT} ",
        f"{AT} ",
        f"2026-11-21T06:17:46.101234567Z stdout F [{AT}] DEBUG ",
        f"Nov 21 06:17:46 broker-1 kafka[812]: [{AT}] DEBUG ",
        f"2026-11-21T06:17:46Z stderr F {AT} DEBUG ",
    ],
)
@pytest.mark.parametrize(
    "after", ["", " (kafka.request.logger)", " (kafka.request.logger)\r", "} and more"]
)
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
    assert PARSER.parse(shipped) == Damaged(
        "other JSON around the line, and no field of the message is configured"
    )
    assert RequestLogParser(to_ms, "body").parse(shipped) == Damaged(
        "no request at the configured field body"
    )


@pytest.mark.parametrize(
    "time",
    [
        "2026-11-21T06:17:45.983Z",
        "2026-11-21T07:17:45.983456789+01:00",
        AT,
        1795241865983,
        "1795241865983",
        "1795241865983000000",
        1795241865.9831,
    ],
)
@pytest.mark.parametrize(
    "message", [compact(DOCUMENT), "Completed request:" + compact(DOCUMENT), DOCUMENT]
)
def test_a_message_without_a_time_has_that_of_its_shipping_if_configured(
    message: object, time: object
) -> None:
    shipped = compact({"fields": {"time": time}, "message": message}).encode()
    assert RequestLogParser(to_ms, "message", "fields.time").parse(shipped) == PARSER.parse(
        line(DOCUMENT)
    )
    assert RequestLogParser(to_ms, "message").parse(shipped) == Damaged(
        "no time that can be read stands before the request"
    )


@pytest.mark.parametrize(
    "time", [None, "yesterday", "2026-11-21T06:17:45", True, -5, "9" * 40, {}, 10**30]
)
def test_a_time_of_shipping_that_is_none_is_damage(time: object) -> None:
    shipped = compact({"time": time, "message": DOCUMENT}).encode()
    assert RequestLogParser(to_ms, "message", "time").parse(shipped) == Damaged(
        "no time that can be read stands before the request"
    )


def test_the_line_s_own_time_goes_before_that_of_shipping() -> None:
    shipped = compact({"time": 1, "message": line(DOCUMENT).decode()}).encode()
    assert only(RequestLogParser(to_ms, "message", "time").parse(shipped)).at_ms == AT_MS


def test_a_plain_line_is_read_whatever_field_is_configured() -> None:
    assert RequestLogParser(to_ms, "log").parse(line(DOCUMENT)) == PARSER.parse(line(DOCUMENT))


def test_the_text_alone_needs_a_time() -> None:
    bare = compact(DOCUMENT)
    for text in (bare, "Completed request:" + bare):
        assert PARSER.parse(text.encode()) == Damaged(
            "no time that can be read stands before the request"
        )
        assert PARSER.read_message(text, AT_MS) == PARSER.parse(line(DOCUMENT))
    assert PARSER.parse(compact(document(1)).encode()) is None
    assert PARSER.read_message("Loaded 5 records", AT_MS) is None
    assert PARSER.read_message("Completed request:{", AT_MS) == Damaged(
        "the JSON is broken, cut or none"
    )


@pytest.mark.parametrize(
    "other",
    [
        "",
        "[GroupCoordinator 1]: Stabilized group g",
        f"[{AT}] INFO [GroupCoordinator 1]: Startup complete. (x.Y)",
        '{"log":"x"}',
        "\x00",
    ],
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
    made = document(
        key,
        request={"groupId": group, "memberId": "m", "memberEpoch": 1, "generationId": 1},
        response={"errorCode": 0},
    )
    written = line(made)
    parsed = PARSER.parse(written)
    if key == 1:
        assert parsed is None
    else:
        assert only(parsed).group_id == group.replace("\udc80", "\\x80")
        assert [text for _, text in LineScanner().group_lines([written])] == [written]
        assert (
            RequestLogParser(to_ms, "log").parse(compact({"log": written.decode()}).encode())
            == parsed
        )


@pytest.mark.parametrize(
    "group",
    [
        f"Completed request:{compact(DOCUMENT)}",
        f"] Completed request:{compact(DOCUMENT)}",
        f"INFO Completed request:{compact(DOCUMENT)}",
    ],
)
@pytest.mark.parametrize(
    "other",
    [
        (
            f"[{AT}] INFO [GroupCoordinator 1]: Preparing to rebalance group %s in state Stable"
            " (kafka.coordinator.group.GroupCoordinator)"
        ),
        (
            f"[{AT}] INFO [GroupCoordinator id=1] [GroupId %s] Member m left"
            " (org.apache.kafka.coordinator.group.GroupMetadataManager)"
        ),
        f"[{AT}] INFO %s (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        (
            f"{AT} INFO  [kafka-request-handler-1] o.a.k.c.g.GroupMetadataManager - [GroupId %s]"
            " Member m left"
        ),
        f"{AT} INFO Preparing to rebalance group %s in state Stable",
    ],
)
def test_a_name_printed_by_another_logger_is_no_request(other: str, group: str) -> None:
    parsed = PARSER.parse((other % group).encode())
    assert parsed is None or parsed == Damaged(
        "words of no layout that is known stand before the request"
    )
