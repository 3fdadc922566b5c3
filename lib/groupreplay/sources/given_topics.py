"""Names of topic ids as an admin client told them: a JSON list of {"topic_id": .., "topic": ..,
"partitions": ..}, plain or .gz.

Other keys are ignored, so the answer of an admin tool may be given as it is. A later file wins over
an earlier one, in the order of their paths.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from groupreplay.config.sources import Source
from groupreplay.errors import SourceUnreadable
from groupreplay.sources.found_files import find_files
from groupreplay.workers.files import read_start

MAX_BYTES: Final = 256 << 20
"""A million topics are 100 MB. The file is read whole, on the driver."""


@dataclass(frozen=True, slots=True)
class GivenTopic:
    """topic_id: base64 as Kafka prints it.
    partitions: None where the file does not say.
    """

    topic_id: str
    topic: str
    partitions: int | None


def read_topics(sources: Iterable[Source]) -> list[GivenTopic]:
    """All topics of these sources, one row an id, by id. Raises SourceUnreadable, with file and
    place, on anything that is no such list.
    """
    topics: dict[str, GivenTopic] = {}
    for source in sources:
        for file in find_files(source).files:
            for topic in _read(source, file.path):
                topics[topic.topic_id] = topic
    return [topics[topic_id] for topic_id in sorted(topics)]


def _read(source: Source, path: str) -> list[GivenTopic]:
    try:
        content = read_start(path, MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES} bytes")
        rows = json.loads(content)
    except (OSError, ValueError, RecursionError) as error:
        raise SourceUnreadable(str(source), f"{path}: {error}") from error
    if not isinstance(rows, list):
        raise SourceUnreadable(
            str(source), f"{path}: expected a list of topics, got {type(rows).__name__}"
        )
    return [_topic(source, f"{path}: item {place}", row) for place, row in enumerate(rows)]


def _topic(source: Source, where: str, row: Any) -> GivenTopic:
    if not isinstance(row, dict):
        raise SourceUnreadable(
            str(source),
            f"{where}: expected an object with topic_id and topic, got {type(row).__name__}",
        )
    topic_id, topic, partitions = row.get("topic_id"), row.get("topic"), row.get("partitions")
    if not isinstance(topic_id, str) or not topic_id or not isinstance(topic, str) or not topic:
        raise SourceUnreadable(
            str(source),
            f"{where}: expected texts topic_id and topic, got {topic_id!r} and {topic!r}",
        )
    if partitions is not None and (
        not isinstance(partitions, int)
        or isinstance(partitions, bool)
        or not 0 <= partitions < 2**31
    ):
        raise SourceUnreadable(
            str(source), f"{where}: expected a number of partitions, got {partitions!r}"
        )
    return GivenTopic(topic_id, topic, partitions)
