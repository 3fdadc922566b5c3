"""A shortcut: the log of a new table, written and not asked for.

Version 0 of a Delta log is one small file, and its checksum another. In a local folder they are
made by `local_files`, elsewhere by Delta's own LogStore, which knows how each file system makes a
file once. CREATE TABLE leaves the same, and takes Delta half a second a table; without the checksum
the first write to each table begins with five jobs of Spark. Source: the Delta protocol, "Change
Metadata", "Protocol Evolution" and "Version Checksum File".
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, Final

from py4j.protocol import Py4JJavaError

from groupreplay.tables.delta.delta_log import DeltaLog
from groupreplay.tables.delta.local_files import make_text
from groupreplay.tables.schemas import READER_VERSION, WRITER_VERSION, TableSchema

_STAGED: Final = "_staged_commits"
"""Delta makes this folder with each log (`DeltaLog.createLogDirectoriesIfNotExists`)."""

_VERSIONS = {"minReaderVersion": READER_VERSION, "minWriterVersion": WRITER_VERSION}


def write_first_version(log: DeltaLog, schema: TableSchema) -> None:
    """Begins the log of a table. Does nothing where another process was quicker."""
    metadata = {
        "id": str(uuid.uuid4()),
        "description": schema.comment,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema.struct.json(),
        "partitionColumns": list(schema.partition_columns),
        "configuration": dict(schema.properties),
        "createdTime": int(time.time() * 1000),
    }
    info = {
        "timestamp": metadata["createdTime"],
        "operation": "CREATE TABLE",
        "operationParameters": {},
        "isBlindAppend": True,
    }
    actions: list[dict[str, Any]] = [{"commitInfo": info}, {"protocol": _VERSIONS}]
    actions.append({"metaData": metadata})
    files = {f"{0:020d}.json": actions, f"{0:020d}.crc": [_checksum(metadata)]}
    texts = {
        name: [json.dumps(line, separators=(",", ":")) for line in lines]
        for name, lines in files.items()
    }
    folder = log.local_folder()
    if folder is None or not _are_made(folder, texts):
        _make_by_delta(log, texts)


def _are_made(folder: str, texts: Mapping[str, Sequence[str]]) -> bool:
    """Writes these files, lines by name, into a local folder, in this order; stops at one that
    another process has written. False where the folder takes no file in this way.
    """
    try:
        os.makedirs(os.path.join(folder, _STAGED), exist_ok=True)
        for name, lines in texts.items():
            make_text(os.path.join(folder, name), "".join(f"{line}\n" for line in lines))
    except FileExistsError:
        return True
    except OSError:
        return False
    return True


def _make_by_delta(log: DeltaLog, texts: Mapping[str, Sequence[str]]) -> None:
    """`_are_made`, through Delta's LogStore."""
    jvm, java_log = log.jvm, log.java_log
    java_log.createLogDirectoriesIfNotExists()
    converters = getattr(jvm, "scala.jdk.javaapi.CollectionConverters")
    try:
        for name, lines in texts.items():
            java_lines = getattr(jvm, "java.util.ArrayList")()
            for line in lines:
                java_lines.add(line)
            java_log.store().write(
                log.java_path(java_log.logPath(), name),
                converters.asScala(java_lines.iterator()),
                False,
                java_log.newDeltaHadoopConf(),
            )
    except Py4JJavaError as error:
        if error.java_exception.getClass().getSimpleName() != "FileAlreadyExistsException":
            raise


def _checksum(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The version checksum of a table without files."""
    counts = {"tableSizeBytes": 0, "numFiles": 0, "numMetadata": 1, "numProtocol": 1}
    nothing: dict[str, Any] = {"setTransactions": [], "domainMetadata": [], "allFiles": []}
    own = {"metadata": metadata, "protocol": _VERSIONS}
    return {"txnId": str(uuid.uuid4()), **counts, **nothing, **own}
