"""Which errors of Spark tell of a cluster that cannot be read, in which words, and without
secrets.
"""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

from groupreplay.config.sources import KafkaSource
from groupreplay.errors import SourceUnreadable
from groupreplay.sources.kafka_admin import readable, whole_partitions

SOURCE = KafkaSource(
    kind="kafka", bootstrap_servers="b:1", options={"ssl.key.password": "hunter2-hunter2"}
)

DEAD = """Job aborted due to stage failure: Task 0 in stage 3.0 failed 4 times, most recent failure: java.util.concurrent.TimeoutException: {words}
\tat org.apache.spark.sql.kafka010.consumer.InternalKafkaConsumer.fetch(KafkaDataConsumer.scala:105)
Driver stacktrace:
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2898)"""

GONE = """An error occurred while calling o1.save.
: org.apache.spark.SparkException: Job aborted.
\tat org.apache.spark.sql.delta.files.TransactionalWrite.writeFiles(TransactionalWrite.scala:449)
Caused by: org.apache.kafka.common.errors.TimeoutException: Timeout of 5000ms expired before the position could be determined
\t... 3 more"""


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            DEAD.format(words="Cannot fetch record for offset 7 in 5000 milliseconds"),
            "Cannot fetch record for offset 7 in 5000 milliseconds",
        ),
        (DEAD.format(words="key hunter2-hunter2 is bad"), "key *** is bad"),
        (GONE, "Timeout of 5000ms expired before the position could be determined"),
    ],
)
def test_errors_of_kafka_are_a_source_that_cannot_be_read(text: str, says: str) -> None:
    with pytest.raises(SourceUnreadable) as caught, readable(SOURCE):
        raise PySparkException(text)
    assert str(caught.value) == f"the source kafka b:1 cannot be read: {says}"


def test_a_partition_is_whole_while_no_transaction_keeps_its_end_back() -> None:
    """Partition 3 was written to between the two questions."""
    assert whole_partitions({1: 9, 2: 9, 3: 9, 4: 0}, {4: 0, 3: 11, 2: 7, 1: 9}) == (1, 3, 4)


@pytest.mark.parametrize(
    "error",
    [
        PySparkException("No space left on device"),
        ValueError("org.apache.kafka.x is not for us"),
        SourceUnreadable("a", "b"),
    ],
)
def test_other_errors_stay_what_they_are(error: Exception) -> None:
    with pytest.raises(type(error)) as caught, readable(SOURCE):
        raise error
    assert caught.value is error
