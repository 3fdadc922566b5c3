"""What Spark's spark-submit is given besides name and bundle. `spark-submit.sh` asks for it:

    python spark_options.py HOME JOB [options of the job]

Prints the options as words of a shell. HOME is the folder of `spark-submit.sh`, which says what the
variables of the environment mean. Any Python from 3.8 on runs it, as a file and with the standard
library alone. Where that Python lacks YAML, what the job needs is not known and is left out.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import sys
from collections.abc import Collection, Mapping, Sequence

KAFKA, BOTH_COMPILERS = "kafka", "both-compilers"
"""What a job can need, as `cli.launch` says it."""

NO_KAFKA_JARS = (
    "The configuration reads a cluster, and Spark's jars for it are missing: run make kafka-jars,"
    " or name their folder in GROUPREPLAY_KAFKA_JARS."
)


class CannotStart(Exception):
    """What is missing, in a sentence."""


def spark_options(
    home: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    needs: Collection[str],
) -> list[str]:
    """Options of spark-submit. Raises CannotStart.

    arguments: command line of the job, without its name.
    needs: what the job needs: KAFKA, BOTH_COMPILERS, both or none.
    """
    properties = environment.get("GROUPREPLAY_SPARK_CONF") or f"{home}/conf/spark-local.conf"
    master = environment.get("GROUPREPLAY_MASTER", "")
    jars = jars_in(environment.get("GROUPREPLAY_JARS", f"{home}/.cache/jars"))
    options = [
        *("--properties-file", properties),
        *_compiled_core(home, properties, master, environment),
        *("--driver-java-options", _java(home, arguments, environment, needs)),
        *(("--master", master) if master else ()),
        # The driver has these on its own class path too, where its archive of classes has them.
        *(("--driver-class-path", ":".join(jars)) if jars else ()),
    ]
    jars += _kafka_jars(home, environment) if KAFKA in needs else []
    return options + (["--jars", ",".join(jars)] if jars else [])


def _compiled_core(
    home: str, properties: str, master: str, environment: Mapping[str, str]
) -> list[str]:
    """Workers on this machine look where GROUPREPLAY_COMPILED says; those of a cluster get an
    archive, beside those that the properties name.
    """
    if environment.get("GROUPREPLAY_COMPILED") == "0":
        return ["--conf", "spark.executorEnv.GROUPREPLAY_COMPILED=0"]
    if (master or property_of(properties, "spark.master")).startswith("local"):
        return []
    archive = environment.get("GROUPREPLAY_ARCHIVE", f"{home}/dist/groupreplay-compiled.tar.gz")
    others = property_of(properties, "spark.archives")
    own = f"{archive}#groupreplay-compiled"
    return ["--archives", f"{others},{own}" if others else own] if _holds(archive) else []


def _java(
    home: str, arguments: Sequence[str], environment: Mapping[str, str], needs: Collection[str]
) -> str:
    """GROUPREPLAY_JAVA comes last, and so counts."""
    given = f" {' '.join(arguments)} "
    is_json = " --log-format json " in given or " --log-format=json " in given
    logging = environment.get("GROUPREPLAY_LOG4J2") or (
        f"{home}/conf/log4j2-json.properties" if is_json else f"{home}/conf/log4j2.properties"
    )
    java = [f'"-Dlog4j2.configurationFile=file:{logging}"']
    classes = environment.get("GROUPREPLAY_CLASSES", f"{home}/.cache/classes.jsa")
    if _holds(classes):
        # The JVM passes over an archive of another Java or of other jars; it need not say so.
        java.append(f'"-XX:SharedArchiveFile={classes}" -Xshare:auto')
        java.append("-Xlog:cds=off -Xlog:cds+dynamic=off")
    if BOTH_COMPILERS in needs:
        java.append("-XX:TieredStopAtLevel=4")
    if more := environment.get("GROUPREPLAY_JAVA"):
        java.append(more)
    return " ".join(java)


def _kafka_jars(home: str, environment: Mapping[str, str]) -> list[str]:
    """Spark's Kafka source comes along only where the configuration asks a cluster."""
    folder = environment.get("GROUPREPLAY_KAFKA_JARS", f"{home}/.cache/kafka-jars")
    if not folder:
        return []
    jars = jars_in(folder)
    if not jars:
        raise CannotStart(NO_KAFKA_JARS)
    return jars


def jars_in(folder: str) -> list[str]:
    """Paths of the jars in a folder, in order; a jar is one by itself."""
    if not os.path.isdir(folder):
        return [folder] if folder.endswith(".jar") and os.path.exists(folder) else []
    return sorted(
        os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".jar")
    )


def property_of(path: str, name: str) -> str:
    """The last value of a property in a file, "" for none. Raises CannotStart."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            text = file.read()
    except OSError as error:
        raise CannotStart(f"{path} cannot be read: {error.strerror}.") from error
    found: list[str] = re.findall(rf"^{re.escape(name)}[ \t\r\f\v=:]+(.*)$", text, re.MULTILINE)
    return found[-1] if found else ""


def _holds(path: str) -> bool:
    """Whether there is a file, and something in it."""
    return os.path.exists(path) and os.path.getsize(path) > 0


def _needs(job: str, arguments: Sequence[str]) -> list[str]:
    """What the job needs of its JVM. A configuration that cannot be read is the job's to report."""
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            from groupreplay.cli.launch import needed

            return needed(job, arguments)
        except (Exception, SystemExit):  # noqa: BLE001  # the job raises it again, and says it
            return []


def main(home: str, job: str, *arguments: str) -> int:
    try:
        options = spark_options(home, arguments, os.environ, _needs(job, arguments))
    except CannotStart as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(" ".join(map(shlex.quote, options)))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
