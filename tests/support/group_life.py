"""Real clients on a real broker: groups of both protocols whose members come, commit and go, and
commits inside transactions.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from confluent_kafka import Consumer, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

WITHIN_S = 180.0
"""A few seconds on an idle machine. Nothing waits so long unless it is stuck, or the machine is."""


def make_topics(address: str, **partitions: int) -> None:
    admin = AdminClient({"bootstrap.servers": address})
    for future in admin.create_topics(
        [NewTopic(name, count, 1) for name, count in partitions.items()]
    ).values():
        future.result(WITHIN_S)


class Group:
    """Members of one group, polled by turns in one thread."""

    def __init__(self, address: str, group_id: str, topic: str, protocol: str) -> None:
        self.address, self.group_id, self.topic, self.protocol = address, group_id, topic, protocol
        self.members: dict[str, Consumer] = {}

    def join(self, *names: str) -> None:
        for name in names:
            settings = {
                "bootstrap.servers": self.address,
                "group.id": self.group_id,
                "client.id": name,
                "group.protocol": self.protocol,
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
            }
            if self.protocol == "classic":
                settings |= {
                    "partition.assignment.strategy": "cooperative-sticky",
                    "session.timeout.ms": 60_000,
                    "heartbeat.interval.ms": 500,
                }
            self.members[name] = Consumer(settings)
            self.members[name].subscribe([self.topic])
        self.settle()

    def leave(self, name: str) -> None:
        self.members.pop(name).close()
        self.settle()

    def close(self) -> None:
        for member in self.members.values():
            member.close()
        self.members.clear()

    def owned(self) -> dict[str, list[int]]:
        return {
            name: sorted(each.partition for each in member.assignment())
            for name, member in self.members.items()
        }

    def settle(self) -> None:
        """Until every partition has one owner among the members, and none has none where there are
        enough.
        """
        partitions = len(
            AdminClient({"bootstrap.servers": self.address})
            .list_topics(self.topic, WITHIN_S)
            .topics[self.topic]
            .partitions
        )

        def is_settled() -> bool:
            held = [each for owned in self.owned().values() for each in owned]
            return sorted(held) == list(range(partitions)) and all(self.owned().values())

        self.poll_until(is_settled if self.members else lambda: True)

    def poll_until(self, is_done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + WITHIN_S
        while not is_done():
            assert time.monotonic() < deadline, (self.group_id, self.owned())
            for member in self.members.values():
                member.poll(0.05)

    def commit(self, offset: int) -> None:
        """Every member commits that offset for every partition it owns."""
        for member in self.members.values():
            member.commit(
                offsets=[
                    TopicPartition(self.topic, each.partition, offset)
                    for each in member.assignment()
                ],
                asynchronous=False,
            )


def commit_in_transaction(address: str, group: Group, offset: int, *, commits: bool) -> None:
    """One transaction that holds the offsets of the group's first member."""
    member = next(iter(group.members.values()))
    producer = Producer(
        {
            "bootstrap.servers": address,
            "transactional.id": f"{group.group_id}-tx",
            "transaction.timeout.ms": 300_000,
        }
    )
    producer.init_transactions(WITHIN_S)
    producer.begin_transaction()
    offsets = [TopicPartition(group.topic, each.partition, offset) for each in member.assignment()]
    producer.send_offsets_to_transaction(offsets, member.consumer_group_metadata(), WITHIN_S)
    if commits:
        producer.commit_transaction(WITHIN_S)
    else:
        producer.abort_transaction(WITHIN_S)


def described(address: str, group_ids: Sequence[str]) -> dict[str, tuple[str, int]]:
    """group id -> (state, members) as the coordinator tells a client."""
    admin, found = AdminClient({"bootstrap.servers": address}), {}
    for group_id, future in admin.describe_consumer_groups(list(group_ids)).items():
        answer = future.result(WITHIN_S)
        found[group_id] = (answer.state.name, len(answer.members))
    return found


def topic_ids(address: str, *topics: str) -> dict[str, str]:
    """topic -> id as a client is told it, which librdkafka writes with + and / where Kafka has -
    and _.
    """
    admin = AdminClient({"bootstrap.servers": address})
    told = {
        topic: str(future.result(WITHIN_S).topic_id)
        for topic, future in admin.describe_topics(TopicCollection(list(topics))).items()
    }
    return {topic: topic_id.replace("+", "-").replace("/", "_") for topic, topic_id in told.items()}
