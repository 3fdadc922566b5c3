"""One real broker for tests: KRaft, a single node, a plain Java process that is stopped by its id.
Its jars come by Spark's own resolver, once.

Offline, put the jars of `org.apache.kafka:kafka_2.13` of this version, and of its dependencies,
into the folder that BROKER_JARS names.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

import pyspark
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.support.kafka_jars import CACHE, resolved
from tests.support.proxy import Proxy

KAFKA_VERSION = "4.3.1"
PACKAGES = (
    f"org.apache.kafka:kafka_2.13:{KAFKA_VERSION},org.apache.logging.log4j:log4j-slf4j-impl:2.24.3"
)
BROKER_JARS = CACHE / f"broker-{KAFKA_VERSION}"
OFFSETS_PARTITIONS = 5
STARTS_WITHIN_S = 240
ANSWERS_WITHIN_S = 10.0
"""One question to a broker; a loaded machine may need several."""

_PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},PROXIED://127.0.0.1:{behind_proxy},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port},PROXIED://127.0.0.1:{proxy}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={logs}
auto.create.topics.enable=false
offsets.topic.num.partitions={offsets_partitions}
offsets.topic.replication.factor=1
transaction.state.log.auto.create.topics.enable=false
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.auto.create.topics.enable=false
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.consumer.min.session.timeout.ms=6000
group.consumer.min.heartbeat.interval.ms=1000
group.consumer.heartbeat.interval.ms=1000
log.cleaner.min.compaction.lag.ms=172800000
"""


def broker_jars() -> Path:
    """The folder of Kafka's jars, filled where it is empty."""
    return resolved(PACKAGES, BROKER_JARS)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _is_ready(address: str) -> bool:
    """Whether a client is told of a broker, and of a leader for every partition there is."""
    try:
        told = AdminClient({"bootstrap.servers": address, "log_level": 0}).list_topics(
            timeout=ANSWERS_WITHIN_S
        )
    except KafkaException:
        return False
    return bool(told.brokers) and all(
        partition.leader >= 0
        for topic in told.topics.values()
        for partition in topic.partitions.values()
    )


class Broker:
    """A broker below `home`; the same one again after `stop` and `start`. address: for clients;
    proxied: through `proxy`.
    """

    def __init__(self, home: Path, **properties: str) -> None:
        self.home, self.port = home, free_port()
        behind_proxy = free_port()
        self.proxy = Proxy(behind_proxy)
        self.logs = home / "logs"
        self.process: subprocess.Popen[bytes] | None = None
        home.mkdir(parents=True, exist_ok=True)
        ports = {
            "port": self.port,
            "controller": free_port(),
            "proxy": self.proxy.port,
            "behind_proxy": behind_proxy,
        }
        text = _PROPERTIES.format(logs=self.logs, offsets_partitions=OFFSETS_PARTITIONS, **ports)
        (home / "server.properties").write_text(
            text + "".join(f"{name}={value}\n" for name, value in properties.items())
        )
        (home / "log4j2.properties").write_text(
            "rootLogger.level = WARN\nrootLogger.appenderRef.file.ref = file\nappender.file.type ="
            " File\nappender.file.name = file\nappender.file.fileName ="
            f" {home}/server.log\nappender.file.layout.type ="
            " PatternLayout\nappender.file.layout.pattern = [%d] %p %m (%c)%n\n"
        )
        self._java(
            "kafka.tools.StorageTool",
            "format",
            "-t",
            "AAAAAAAAQACAAAAAAAAAAQ",
            "-c",
            str(home / "server.properties"),
        ).wait(STARTS_WITHIN_S)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def proxied(self) -> str:
        return f"127.0.0.1:{self.proxy.port}"

    def start(self) -> Broker:
        """Until it answers through both of its listeners: its ports are open before it knows what
        it leads.
        """
        self.process = self._java("kafka.Kafka", str(self.home / "server.properties"))
        deadline = time.monotonic() + STARTS_WITHIN_S
        while not all(map(_is_ready, (self.address, self.proxied))):
            assert self.process.poll() is None, (
                f"the broker did not start: {(self.home / 'out.txt').read_text()[-2000:]}"
            )
            assert time.monotonic() < deadline, "the broker did not answer"
            time.sleep(0.2)
        return self

    def stop(self, signal_number: int = signal.SIGTERM) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal_number)
            self.process.wait(60)

    def _java(self, *arguments: str) -> subprocess.Popen[Any]:
        scala = next((Path(pyspark.__file__).parent / "jars").glob("scala-library-2.13*.jar"))
        options = [
            "-Xmx320m",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            f"-Dlog4j2.configurationFile={self.home / 'log4j2.properties'}",
        ]
        with open(self.home / "out.txt", "ab") as out:
            command = ["java", *options, "-cp", f"{broker_jars()}/*:{scala}", *arguments]
            return subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
