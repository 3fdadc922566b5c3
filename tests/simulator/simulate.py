"""Recordings of simulated groups with their truth: Kafka's own group coordinator, in seconds.

SEED GROUPS HOURS OUT [--version 4.3.1] [--profile all]: the same arguments give the same bytes.
The README of `java/` tells what is in a recording. Needs a JDK, 17 or later.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from tests.support.kafka_jars import CACHE, only_one, resolved  # noqa: E402

VERSIONS = ("4.0.2", "4.1.2", "4.2.1", "4.3.1", "4.4.0")
STREAMS_PROFILES = ("streams", "streams-static")
PROFILES = (
    "consumer",
    "classic",
    "migration",
    "static",
    "failover",
    "all",
    "share",
    "troubled",
    *STREAMS_PROFILES,
)
SOURCES = Path(__file__).parent / "java"
MEMORY = "2g"
_JAR = "simulator.jar"
LONG = 10.0
"""Hours of groups."""


class NotSimulated(RuntimeError):
    """There is no recording; the message says why."""


def simulate(
    out: Path,
    seed: int,
    groups: int,
    hours: float,
    profile: str = "all",
    version: str = VERSIONS[-1],
    segments_mb: float = 0.0,
    memory: str = MEMORY,
) -> Path:
    """Plays one history into the folder `out`, which it replaces if it is a recording; that folder.

    segments_mb: size at which segments are rolled, 0: as the seed has it. Raises NotSimulated.
    """
    if profile not in PROFILES or version not in VERSIONS:
        raise NotSimulated(f"no profile {profile}, or no version {version}")
    if profile in STREAMS_PROFILES and not _holds(version, ">= 4.1"):
        raise NotSimulated(f"brokers {version} have no streams groups")
    if out.exists() and any(out.iterdir()) and not (out / "recording.json").exists():
        raise NotSimulated(f"{out} is no recording; not written over")
    options = [*_options(groups * hours, memory), *archived(version)]
    asked = [str(seed), str(groups), str(hours), profile, version, str(segments_mb)]
    _play(_command(version, options), asked, out)
    return out


def _command(version: str, options: list[str]) -> list[str]:
    path = [compiled(version) / _JAR, *sorted(jars(version).glob("*.jar"))]
    return [tool("java"), *options, "-cp", ":".join(map(str, path)), "simulator.Main"]


def _play(command: list[str], asked: list[str], out: Path) -> None:
    """Beside `out` first: a recording is whole, or not there."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        made = Path(scratch) / "recording"
        done = subprocess.run([*command, str(made), *asked], capture_output=True, text=True)
        if done.returncode != 0:
            raise NotSimulated(f"{' '.join(asked)} failed: {(done.stdout + done.stderr)[-4000:]}")
        (made / "summary.txt").write_text(done.stdout)
        shutil.rmtree(out, ignore_errors=True)
        made.rename(out)


def _options(group_hours: float, memory: str) -> list[str]:
    """Of a short history the second compiler is not worth its time. Objects without a hash of their
    own have one for all: StickyTaskAssignor of Kafka Streams keeps members in sets, which would be
    walked in another order each time.
    """
    short = ["-XX:TieredStopAtLevel=1"] if group_hours < LONG else []
    same_hash = ("-XX:+UnlockExperimentalVMOptions", "-XX:hashCode=2")
    return [f"-Xmx{memory}", "-XX:+UseSerialGC", *same_hash, *short]


def archived(version: str) -> list[str]:
    """Options by which Java starts from an archive of the classes that a history needs, made once:
    to load and check them takes longer than a short history itself. None where this Java makes no
    archive.
    """
    archive = compiled(version) / "classes.jsa"
    with only_one(archive):
        if not archive.exists():
            with tempfile.TemporaryDirectory(dir=archive.parent) as scratch:
                made = Path(scratch) / archive.name
                options = [
                    *_options(0, MEMORY),
                    f"-XX:ArchiveClassesAtExit={made}",
                    "-Xlog:disable",
                ]
                asked = ["1", "4", "0.05", "all", version, "0.0"]
                _play(_command(version, options), asked, Path(scratch) / "played")
                made.touch()
                made.rename(archive)
    return [f"-XX:SharedArchiveFile={archive}", "-Xlog:disable"] if archive.stat().st_size else []


def jars(version: str) -> Path:
    """The folder of the jars of a version of Kafka, fetched once."""
    kafka = "org.apache.kafka:kafka-"
    packages = f"{kafka}group-coordinator:{version},{kafka}server:{version}"
    try:
        return resolved(packages, CACHE / "simulator" / version / "jars")
    except (RuntimeError, OSError) as error:
        raise NotSimulated(str(error)) from error


def compiled(version: str) -> Path:
    """The folder with the jar of the classes for a version, compiled anew when a source changed."""
    sources = {path: path.read_text() for path in sorted(SOURCES.rglob("*.java"))}
    named = "".join(f"{path.relative_to(SOURCES)}\n{text}" for path, text in sources.items())
    digest = hashlib.sha256(named.encode()).hexdigest()[:16]
    classes = CACHE / "simulator" / version / f"packed-{digest}"
    libraries = jars(version)
    with only_one(classes):
        if not classes.exists():
            _compile(sources, version, libraries, classes)
    return classes


def tool(name: str) -> str:
    """The path of a program of the JDK. Raises NotSimulated where there is none."""
    found = shutil.which(name)
    if found is None:
        raise NotSimulated(f"{name} is not on the PATH: the simulator needs a JDK, 17 or later")
    return found


def _compile(sources: dict[Path, str], version: str, libraries: Path, classes: Path) -> None:
    """Into a folder of its own first: what is there under the name is whole."""
    javac = tool("javac")
    with tempfile.TemporaryDirectory(dir=classes.parent) as scratch:
        files = []
        for path, text in sources.items():
            file = Path(scratch) / "src" / path.relative_to(SOURCES)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(for_version(text, version))
            files.append(str(file))
        made = Path(scratch) / "classes"
        command = [javac, "-nowarn", "-Xlint:none", "-d", str(made), "-cp", f"{libraries}/*"]
        done = subprocess.run([*command, *files], capture_output=True, text=True)
        if done.returncode != 0:
            raise NotSimulated(f"for {version}: {done.stderr[-6000:]}")
        (Path(scratch) / "packed").mkdir()
        # Java archives no classes of folders.
        shutil.make_archive(str(Path(scratch) / "packed" / _JAR.removesuffix(".jar")), "zip", made)
        (packed,) = (Path(scratch) / "packed").iterdir()
        packed.rename(packed.with_name(_JAR)).parent.rename(classes)


def for_version(text: str, version: str) -> str:
    """The lines of a source that a version takes.

    Told by lines `//#if >= 4.2`, `//#elif < 4.1`, `//#else`, `//#endif`. Lines left out stay as
    empty ones, so that errors name the right line.
    """
    lines: list[str] = []
    taken: list[bool] = []
    """Of each open #if, whether a branch of it was taken already."""
    on: list[bool] = []
    for line in text.split("\n"):
        found = re.match(r"//#(if|elif|else|endif)(.*)", line)
        if found is None:
            lines.append(line if all(on) else "")
            continue
        word, condition = found[1], found[2]
        lines.append("")
        if word == "if":
            taken.append(False)
            on.append(False)
        elif word == "endif":
            taken.pop()
            on.pop()
            continue
        on[-1] = not taken[-1] and (word == "else" or _holds(version, condition))
        taken[-1] = taken[-1] or on[-1]
    return "\n".join(lines)


def _holds(version: str, condition: str) -> bool:
    found = re.fullmatch(r"\s*(>=|<)\s*(\d+)\.(\d+)\s*", condition)
    if found is None:
        raise NotSimulated(f"no condition: {condition}")
    major, minor = (int(number) for number in version.split(".")[:2])
    reached = (major, minor) >= (int(found[2]), int(found[3]))
    return reached if found[1] == ">=" else not reached


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("groups", type=int)
    parser.add_argument("hours", type=float)
    parser.add_argument("out", type=Path)
    parser.add_argument("--version", default=VERSIONS[-1], choices=VERSIONS)
    parser.add_argument("--profile", default="all", choices=PROFILES)
    parser.add_argument("--segments-mb", type=float, default=0.0)
    parser.add_argument("--memory", default=MEMORY)
    given = parser.parse_args()
    try:
        simulate(
            given.out,
            given.seed,
            given.groups,
            given.hours,
            given.profile,
            given.version,
            given.segments_mb,
            given.memory,
        )
    except NotSimulated as error:
        sys.exit(str(error))
    sys.stdout.write((given.out / "summary.txt").read_text())


if __name__ == "__main__":
    main()
