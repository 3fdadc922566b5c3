"""What clients and brokers wrote is shown where Kafka itself says so."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from groupreplay.evidence import classic_rebalances as rebalances
from groupreplay.report.words.privacy import (
    LEFT_OUT,
)
from groupreplay.report.words.quotes import QUOTES
from tests.report.words.hiding import RANDOM, UUID, keys, named, shown
from tests.support.log_lines import recorded_lines

QUOTED: dict[str, str | None] = {
    "the consumer is being closed": None,
    "consumer poll timeout has expired.": None,
    "SESSION_EXPIRED": None,
    "POLL_TIMEOUT": None,
    f"need to re-join with the given member-id: billing-{UUID}": f"need to re-join with the given member-id: {named('billing')}",
    f"need to re-join with the given member-id: {RANDOM}": None,
    "rebalance failed due to NotCoordinatorException": None,
    "encountered FENCED_INSTANCE_ID from HEARTBEAT response": None,
    "triggered followup rebalance scheduled for 1795239831537": None,
    "Shutdown requested": None,
    "Active tasks corrupted": None,
    "rebalance failed due to AnnsException": "..",
    "Partitions were left unassigned.": None,
    "Failed to compute a new target assignment for epoch 7: Index 3 out of bounds for"
    " length 3.": None,
    f"Static member {RANDOM} with instance id ann cannot join the group because the"
    f" instance id is owned by b-{UUID} member.": f"Static member {RANDOM} with instance id .. cannot join the group because the"
    f" instance id is owned by {named('b')} member.",
    f"Member {RANDOM} is not a member of group orders.": f"Member {RANDOM} is not a member of group ..",
    "the consumer is being closed by ann": "..",
    "the consumer is being\nclosed": "..",
    "{member}": "..",
    "3": "..",
    "the": "..",
    "h:0123456789abcdef01234567": "..",
    "no name": "..",
    "": "",
}
"""Text -> what is shown of it, None: all."""

FAULTY: dict[str, str | None] = {
    "value of type 8, version 4: a length of 7 where 3 bytes are left": None,
    "key: 1 bytes, too short for a type": None,
    "value of type 2, version 3: no generation": None,
    '\'{"clientId":"billing"}\' is no text': ".. is no text",
    "value of type 2, version 3: 'ann' is no number of 0 to 7": "value of type 2, version 3: .. is no number of 0 to 7",
    "clientId is no text": None,
    "streams user data of 2 members, subscription: 3 bytes too many": None,
    "streams user data of 1 member, assignment: NEWER_STREAMS_METADATA: version 12, latest 13": None,
    "streams user data of 1 member, assignment: ann": "..",
    "the JSON is broken, cut or none, and so 12 more lines": None,
    "cannot be opened: FileNotFoundError: /home/ann": "cannot be opened: ..",
    "offset 4 in a batch of 5 to 6, after 3": None,
    "ann's laptop": "..",
}
"""Text -> what is shown of it, None: all."""


def test_quotes_are_kafkas_own_texts_as_a_whole(spark: SparkSession) -> None:
    rows = [(text,) for text in QUOTED]
    wanted = [(text if becomes is None else becomes,) for text, becomes in QUOTED.items()]
    assert shown(spark, "refusals", "message STRING", *rows, (None,)) == [*wanted, (None,)]
    ddl = "reason STRING, client_reason STRING"
    twice = [(row[0], row[0]) for row in wanted]
    assert shown(spark, "rebalances", ddl, *[(row[0], row[0]) for row in rows]) == twice


def test_ids_in_quotes_are_ids_where_none_is_hidden(spark: SparkSession) -> None:
    says = "need to re-join with the given member-id: "
    rows = [(says + each,) for each in (f"billing-{UUID}", RANDOM, "User:ann")]
    found = shown(spark, "members", "client_reason STRING", *rows, using=keys("principal"))
    assert found == [rows[0], rows[1], (f"{says}..",)]


def test_faults_keep_the_words_of_this_package(spark: SparkSession) -> None:
    rows = [(text,) for text in FAULTY]
    wanted = [(text if becomes is None else becomes,) for text, becomes in FAULTY.items()]
    assert shown(spark, "undecoded", "reason STRING", *rows, (None,)) == [*wanted, (None,)]


def test_kinds_of_reasons_are_quotes() -> None:
    assert set(rebalances._CAUSES) <= set(QUOTES)


@pytest.mark.parametrize("recording", ["classic-3.9", "consumer-4.3", "other-groups-4.2"])
def test_what_recorded_clients_and_brokers_say_is_known(
    spark: SparkSession, recording: str
) -> None:
    """All of it is Kafka's own: nothing of it is left out as a whole."""
    events = [line.event for lines in recorded_lines(recording).values() for line in lines]
    said = {each.client_reason or "" for each in events}
    kinds = ("CONSUMER_GROUP_HEARTBEAT", "TARGET_FAILED", "UPGRADE_REFUSED", "STATIC_MEMBER_FENCED")
    said |= {each.detail or "" for each in events if each.event in kinds}
    rows = [(text,) for text in sorted(said)]
    assert rows
    found = shown(spark, "refusals", "message STRING", *rows)
    assert [row for row, hides in zip(rows, found, strict=True) if hides == (LEFT_OUT,)] == []
