"""What the sources hold now."""

import gzip
import shutil
from pathlib import Path

import pytest

from groupreplay.config.model import Config
from groupreplay.config.sources import Source
from groupreplay.errors import SourceUnreadable
from groupreplay.night.plans.inputs import find_inputs

RECORDING = Path(__file__).parents[2] / "recordings" / "consumer-4.3"


def config(*sources: tuple[str, Path | str]) -> Config:
    return Config(
        cluster="c",
        warehouse="/none",
        sources=tuple(Source(kind=kind, path=str(path)) for kind, path in sources),
    )


def test_recording_is_found_whole() -> None:
    inputs = find_inputs(
        config(
            ("segments", RECORDING),
            ("dump_log", RECORDING / "dump"),
            ("topics", RECORDING / "topics.json"),
        )
    )
    segments = {file.offsets_partition for file in inputs.files if file.kind == "segments"}
    assert len(segments) == 14
    assert {file.offsets_partition for file in inputs.files if file.kind == "dump_log"} == segments
    assert inputs.passed_over == sum(path.is_file() for path in RECORDING.rglob("*")) - 14
    assert "crash" in {topic.topic for topic in inputs.topics}


def test_source_given_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(RECORDING / "segments")
    once = find_inputs(config(("segments", RECORDING / "segments")))
    again = find_inputs(
        config(
            ("segments", RECORDING / "segments"),
            ("segments", f"{RECORDING}/segments/*/*"),
            ("segments", tmp_path / "link"),
        )
    )
    assert again.files == once.files


@pytest.mark.parametrize(
    ("kind", "path", "why"),
    [
        ("segments", "{tmp}/nothing", "no such file"),
        ("segments", "{tmp}/*.log", "no file matches"),
        (
            "segments",
            "{tmp}",
            (
                "none of its 1 files is what it is said to be: expected __consumer_offsets-P/<20"
                " digits>.log"
            ),
        ),
        ("dump_log", "{tmp}/topics.json", "expected __consumer_offsets-P in the file's name"),
        ("topics", "{tmp}/topics.json", "expected a list of topics"),
    ],
)
def test_source_that_gives_nothing_is_named_with_its_reason(
    tmp_path: Path, kind: str, path: str, why: str
) -> None:
    (tmp_path / "topics.json").write_text("{}")
    with pytest.raises(SourceUnreadable) as caught:
        find_inputs(config((kind, path.format(tmp=tmp_path))))
    assert caught.value.source == f"{kind} {path.format(tmp=tmp_path)}"
    assert why in str(caught.value)


def test_nameless_dump_and_packed_segment_are_found(tmp_path: Path) -> None:
    dump = sorted((RECORDING / "dump").rglob("*.gz"))[0]
    (tmp_path / "support.txt").write_bytes(gzip.decompress(dump.read_bytes()))
    segment = sorted((RECORDING / "segments").rglob("*.log"))[0]
    packed = tmp_path / "logs" / segment.parent.name / (segment.name + ".gz")
    packed.parent.mkdir(parents=True)
    packed.write_bytes(gzip.compress(segment.read_bytes()))
    shutil.copy(segment, packed.with_suffix(".index"))
    inputs = find_inputs(
        config(("segments", tmp_path / "logs"), ("dump_log", tmp_path / "support.txt"))
    )
    assert sorted(file.kind for file in inputs.files) == ["dump_log", "segments"]
    assert inputs.passed_over == 1
