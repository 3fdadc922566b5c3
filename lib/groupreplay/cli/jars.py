"""Which jars a job needs besides Delta's. `spark-submit.sh` asks before Spark starts:

    python -m groupreplay.cli.jars JOB [options of the job]

Prints `kafka` where the job asks a cluster. Configuration errors are reported by the job.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

from groupreplay.config.strict_yaml import parse_yaml, read_text
from groupreplay.errors import ConfigError

KAFKA: Final = "kafka"

OF_TABLES: Final = frozenset(
    {"query_tables", "maintain_tables", "export_tables", "register_tables"}
)
"""Jobs that read no source."""


def needed(job: str, arguments: Sequence[str]) -> list[str]:
    """Names of sets of jars. arguments: of the job."""
    path = _config_path(arguments)
    if job in OF_TABLES or path is None:
        return []
    try:
        config = parse_yaml(read_text(path), path)
    except ConfigError:
        return []
    sources = config.get("sources") if isinstance(config, dict) else None
    return [KAFKA] if any(map(_asks_cluster, sources or ())) else []


def _config_path(arguments: Sequence[str]) -> str | None:
    for place, argument in enumerate(arguments):
        if argument.startswith("--config="):
            return argument.partition("=")[2]
        if argument == "--config" and place + 1 < len(arguments):
            return arguments[place + 1]
    return None


def _asks_cluster(source: Any) -> bool:
    return isinstance(source, dict) and KAFKA in (source.get("kind"), source.get("from"))


if __name__ == "__main__":
    sys.stdout.write("\n".join(needed(sys.argv[1], sys.argv[2:])))
