"""`conf/schema.json`: what a configuration may hold, as a JSON schema (draft 7) by which editors
complete, explain and check YAML while it is written.

It is read off the dataclasses of `config.model` that the strict reader reads by, so a key is
described once. What a key is for stands in the comment above it in `conf/base.yaml`; of keys that
are not there, in the docstring of their dataclass. The reader alone knows what keys must say
together.

    python -m groupreplay.config.json_schema >conf/schema.json
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
import types
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any, Final, Union, get_args, get_origin, get_type_hints

from groupreplay.config.kafka_options import REFUSED
from groupreplay.config.model import ClientVersions, Config, GroupThresholds, Thresholds
from groupreplay.config.sources import (
    SOURCE_KINDS,
    AnySource,
    KafkaSource,
    KafkaTopicsSource,
    RequestLogSource,
    ServerLogSource,
    Source,
)
from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG

Schema = dict[str, Any]

_REFERENCE: Final = r"\$\{env:[^}]*\}"
_OF_KINDS: Final[Mapping[type[Any], tuple[str, ...]]] = {
    ServerLogSource: (SERVER_LOG,),
    RequestLogSource: (REQUEST_LOG,),
    KafkaSource: ("kafka",),
    KafkaTopicsSource: ("topics",),
    Source: tuple(kind for kind in SOURCE_KINDS if kind not in (SERVER_LOG, REQUEST_LOG, "kafka")),
}
"""Class of a source -> the kinds that it is of."""


def json_schema() -> Schema:
    """The JSON Schema of a configuration file."""
    comments = dict(_comments(_base_text()))
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A configuration of groupreplay; docs/configuration.md explains it",
        **_section(Config, "", comments),
    }


def as_text(schema: Schema) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _section(cls: Any, key: str, comments: Mapping[str, str]) -> Schema:
    """The schema of a mapping that is read into the dataclass.

    key: its dotted key, "" where it has none.
    """
    hints, said = get_type_hints(cls), _docstring_of_fields(cls)
    properties: Schema = {}
    required = []
    for field in dataclasses.fields(cls):
        if field.metadata.get("computed"):
            continue
        own = f"{key}.{field.name}" if key else field.name
        described = comments.get(own, said.get(field.name, ""))
        properties[field.name] = {
            **({"description": described} if described else {}),
            **_value(hints[field.name], field.metadata, own, comments),
            **_default(field),
        }
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            required.append(field.name)
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _value(hint: Any, metadata: Mapping[str, Any], key: str, comments: Mapping[str, str]) -> Schema:
    """The schema of what may stand at a key, as `reader._Reader.value` takes it."""
    if get_origin(hint) is tuple:
        return _list(get_args(hint)[0], metadata, key, comments)
    if "kafka_options" in metadata:
        return {
            "type": "object",
            "propertyNames": {"not": {"enum": sorted(REFUSED)}},
            "additionalProperties": {"type": ["string", "number", "boolean"]},
        }
    if "secret" in metadata:
        return {"type": ["string", "null"], "pattern": f"^{_REFERENCE}$"}
    if dataclasses.is_dataclass(hint):
        return _section(hint, key, comments)
    if get_origin(hint) in (Union, types.UnionType):
        schema = _plain(get_args(hint)[0], metadata)
        return {**schema, "type": [*_types(schema), "null"]}
    return _plain(hint, metadata)


def _plain(hint: Any, metadata: Mapping[str, Any]) -> Schema:
    """The schema of a text, a number, true or false; each may be a text that takes it from the
    environment. A pattern binds texts alone, a minimum numbers alone.
    """
    if hint is str:
        pattern = metadata.get("pattern")
        text = {"pattern": f"^(?:{pattern})$|{_REFERENCE}"} if pattern else {"minLength": 1}
        return {"type": "string", **text}
    if hint is bool:
        return {"type": ["boolean", "string"], "pattern": _REFERENCE}
    limits = {"min": "minimum", "max": "maximum"}
    given = {word: metadata[name] for name, word in limits.items() if name in metadata}
    return {"type": ["integer", "string"], **given, "pattern": _REFERENCE}


def _types(schema: Schema) -> list[str]:
    found = schema["type"]
    return [found] if isinstance(found, str) else found


def _list(each: Any, metadata: Mapping[str, Any], key: str, comments: Mapping[str, str]) -> Schema:
    lengths = {"min": "minItems", "max": "maxItems"}
    given = {word: metadata[name] for name, word in lengths.items() if name in metadata}
    return {"type": "array", **given, "items": _item(each, metadata, key, comments)}


def _item(each: Any, metadata: Mapping[str, Any], key: str, comments: Mapping[str, str]) -> Schema:
    if each == AnySource:
        return {"anyOf": [_source(cls) for cls in _OF_KINDS]}
    if each is GroupThresholds:
        limits = {
            field.name: {"$ref": f"#/properties/thresholds/properties/{field.name}"}
            for field in dataclasses.fields(Thresholds)
        }
        return {
            "type": "object",
            "properties": {"pattern": {"type": "string", "minLength": 1}, **limits},
            "required": ["pattern"],
            "additionalProperties": False,
        }
    if each is ClientVersions:
        return _section(ClientVersions, key, comments)
    if "choices" in metadata:
        return {"enum": list(metadata["choices"])}
    return {"type": "string", "minLength": 1}


def _source(cls: type[Any]) -> Schema:
    schema = _section(cls, "", {})
    schema["properties"]["kind"] = {"enum": list(_OF_KINDS[cls])}
    if cls is KafkaTopicsSource:
        schema["properties"]["from"] = {"enum": ["kafka"]}
        schema["required"].append("from")
    return schema


def _default(field: dataclasses.Field[Any]) -> Schema:
    """A mapping's defaults stand at its keys."""
    if field.default_factory is not dataclasses.MISSING or field.default is dataclasses.MISSING:
        return {}
    default = field.default
    if isinstance(default, tuple):
        default = [
            dataclasses.asdict(each) if dataclasses.is_dataclass(each) else each  # type: ignore[arg-type]
            for each in default
        ]
    return {"default": default}


# ---------------------------------------------------------------- what keys are for


def _base_text() -> str:
    return resources.files("groupreplay").joinpath("_base.yaml").read_text(encoding="utf-8")


def _comments(base: str) -> Iterator[tuple[str, str]]:
    """Dotted key -> the comment above it, for keys of the first two levels. Keys that follow each
    other below one comment share it.
    """
    section, comment, is_open = "", list[str](), False
    for line in base.splitlines():
        if found := re.match(r" *# ?(.*)", line):
            comment = [*(comment if is_open else ()), found[1].strip()]
            is_open = True
            continue
        is_open = False
        found = re.match(r"( *)(\w+):", line)
        if found and comment:
            yield f"{section}.{found[2]}" if found[1] else found[2], " ".join(comment)
        if not found or not found[1]:
            section, comment = found[2] if found else section, []


def _docstring_of_fields(cls: Any) -> dict[str, str]:
    """Field -> what the docstring of the class, or of one that it is made from, says of it: `name:
    text`, or `name, name: text`.
    """
    docstrings = "\n\n".join(inspect.cleandoc(each.__doc__ or "") for each in reversed(cls.mro()))
    paragraphs = re.findall(r"^(\w+(?:, \w+)*): (.+(?:\n    .+)*)", docstrings, re.MULTILINE)
    return {
        name: " ".join(text.split()).replace("`", "")
        for names, text in paragraphs
        for name in names.split(", ")
    }


if __name__ == "__main__":
    sys.stdout.write(as_text(json_schema()))
