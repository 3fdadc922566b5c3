"""Kafka's own tool on the same segments: kafka-dump-log, which only prints what groupreplay
replays. Its jars come by Maven, once.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

KAFKA_VERSION = "4.3.1"
LOG4J_VERSION = "2.24.3"
_POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>bench</groupId><artifactId>peer</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>{KAFKA_VERSION}</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{KAFKA_VERSION}</version></dependency>
    <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>{LOG4J_VERSION}</version></dependency>
  </dependencies>
</project>
"""


def kafka_jars(cache: Path) -> Path | None:
    """The folder of Kafka's jars, fetched where they are not there yet; None where Maven is
    missing.
    """
    folder = cache / f"kafka-{KAFKA_VERSION}"
    jars = folder / "jars"
    if any(jars.glob("kafka-tools-*.jar")):
        return jars
    if shutil.which("mvn") is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pom.xml").write_text(_POM)
    command = [
        "mvn",
        "-q",
        "-B",
        "-f",
        str(folder / "pom.xml"),
        "dependency:copy-dependencies",
        "-DincludeScope=runtime",
        f"-DoutputDirectory={jars}",
    ]
    subprocess.run(command, check=True)
    return jars


def dump_seconds(jars: Path, folder: Path, printed: Path) -> float:
    """Seconds of kafka-dump-log for all segments below `folder`; what it prints goes to a file."""
    files = ",".join(str(path) for path in sorted(folder.glob("*/*.log")))
    command = [
        "java",
        "-cp",
        f"{jars}/*",
        "org.apache.kafka.tools.DumpLogSegments",
        "--offsets-decoder",
        "--files",
        files,
    ]
    began = time.monotonic()
    with open(printed, "wb") as out:
        subprocess.run(command, check=True, stdout=out, stderr=subprocess.DEVNULL)
    return time.monotonic() - began
