"""A shortcut: the log of a new table, written and not asked for.

Version 0 of a Delta log is one small file, and its checksum another. They are written through
Delta's own LogStore, which knows how each file system makes a file once. CREATE TABLE leaves the
same, and takes Delta half a second a table; without the checksum the first write to each table
begins with five jobs of Spark. Source: the Delta protocol, "Change Metadata", "Protocol Evolution"
and "Version Checksum File".
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from py4j.protocol import Py4JJavaError

from groupreplay.tables.delta.delta_log import DeltaLog
from groupreplay.tables.schemas import READER_VERSION, WRITER_VERSION, TableSchema

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
    log.java_log.createLogDirectoriesIfNotExists()
    try:
        actions: list[dict[str, Any]] = [{"commitInfo": info}, {"protocol": _VERSIONS}]
        actions.append({"metaData": metadata})
        _write_new(log, f"{0:020d}.json", actions)
        _write_new(log, f"{0:020d}.crc", [_checksum(metadata)])
    except Py4JJavaError as error:
        if error.java_exception.getClass().getSimpleName() != "FileAlreadyExistsException":
            raise


def _write_new(log: DeltaLog, name: str, lines: Sequence[Mapping[str, Any]]) -> None:
    """Writes a file of the log, JSON by lines, that must not be there yet."""
    jvm, java_log = log.jvm, log.java_log
    texts = getattr(jvm, "java.util.ArrayList")()
    for line in lines:
        texts.add(json.dumps(line, separators=(",", ":")))
    path = log.java_path(java_log.logPath(), name)
    converters = getattr(jvm, "scala.jdk.javaapi.CollectionConverters")
    written = converters.asScala(texts.iterator())
    java_log.store().write(path, written, False, java_log.newDeltaHadoopConf())


def _checksum(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The version checksum of a table without files."""
    counts = {"tableSizeBytes": 0, "numFiles": 0, "numMetadata": 1, "numProtocol": 1}
    nothing: dict[str, Any] = {"setTransactions": [], "domainMetadata": [], "allFiles": []}
    own = {"metadata": metadata, "protocol": _VERSIONS}
    return {"txnId": str(uuid.uuid4()), **counts, **nothing, **own}
