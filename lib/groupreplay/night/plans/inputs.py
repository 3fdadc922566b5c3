"""What the sources of a night hold now: files of every kind, given topics, the live topic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from groupreplay.config.model import Config
from groupreplay.config.sources import ServerLogSource, Source
from groupreplay.errors import SourceUnreadable
from groupreplay.sources import dump_log, segments
from groupreplay.sources.found_files import Listing, find_files
from groupreplay.sources.given_topics import GivenTopic, read_topics
from groupreplay.sources.live_planning import LiveTopic
from groupreplay.sources.log_files import LogFile
from groupreplay.sources.text_logs import TextFile, text_files
from groupreplay.wire.segments.units import DUMP_LOG, SEGMENTS
from groupreplay.workers.files import identity, is_readable


@dataclass(frozen=True, slots=True)
class Inputs:
    """What the sources hold now.

    passed_over: number of files that are no part of the offsets topic.
    unreadable: directories that could not be listed, and why.
    texts: logs of brokers.
    live: the live topic, None where there is none to read.
    """

    files: tuple[LogFile, ...]
    topics: tuple[GivenTopic, ...]
    passed_over: int
    unreadable: tuple[tuple[str, str], ...]
    texts: tuple[TextFile, ...] = ()
    live: LiveTopic | None = None


def find_inputs(config: Config) -> Inputs:
    """All files of all sources, each once. `night.plans.clusters` asks the clusters.

    Raises SourceUnreadable for a source that gives nothing.
    """
    files: dict[str, LogFile] = {}
    passed_over = 0
    unreadable: list[tuple[str, str]] = []
    texts: dict[str, TextFile] = {}
    for source in config.sources:
        if isinstance(source, ServerLogSource):
            unreadable += _find_texts(source, texts)
        if not isinstance(source, Source) or source.kind not in (SEGMENTS, DUMP_LOG):
            continue
        listing = find_files(source)
        found = (
            segments.segments(listing.files)
            if source.kind == SEGMENTS
            else dump_log.dumps(listing.files)
        )
        expected = segments.EXPECTED if source.kind == SEGMENTS else dump_log.EXPECTED
        _check(str(source), listing, [file for each in found for file in each], expected)
        passed_over += sum(not each for each in found)
        unreadable += listing.unreadable
        for each in found:
            for file in each:
                files.setdefault(
                    f"{file.kind}\0{file.offsets_partition}\0{identity(file.path)}", file
                )
    return replace(
        find_topics(config),
        files=tuple(files.values()),
        passed_over=passed_over,
        unreadable=tuple(unreadable),
        texts=tuple(texts.values()),
    )


def find_topics(config: Config) -> Inputs:
    """The given topics alone, for steps that read no log. Raises SourceUnreadable."""
    return Inputs(
        (),
        tuple(
            read_topics(
                source
                for source in config.sources
                if isinstance(source, Source) and source.kind == "topics"
            )
        ),
        0,
        (),
    )


def _find_texts(source: ServerLogSource, found: dict[str, TextFile]) -> Iterable[tuple[str, str]]:
    """Adds the logs of one source; gives directories that could not be listed. Raises
    SourceUnreadable if not one of its files can be read.
    """
    listing = find_files(source)
    files = text_files(source, listing.files)
    failures = [file for file in files if file.failure]
    if len(failures) == len(files):
        raise SourceUnreadable(
            str(source),
            f"{failures[0].path}: {failures[0].failure}"
            + (f", and {len(files) - 1} more files" if len(files) > 1 else ""),
        )
    for file in files:
        found.setdefault(f"{source.kind}\0{source.broker}\0{identity(file.path)}", file)
    return listing.unreadable


def _check(source: str, listing: Listing, found: list[LogFile], expected: str) -> None:
    if not found:
        raise SourceUnreadable(
            source,
            f"none of its {len(listing.files)} files is what it is said to be: expected {expected}",
        )
    whys = []
    for file in found:
        why = is_readable(file.path)
        if why is None:
            return
        whys.append(why)
    raise SourceUnreadable(
        source, f"{whys[0]}" + (f", and {len(whys) - 1} more files" if len(whys) > 1 else "")
    )
