"""YAML files and `--set` arguments -> one checked `Config`, or a ConfigError that names file, key
and what was expected.

A configuration is laid over `conf/base.yaml` (which travels in the package), arguments over both;
mappings are merged key by key, lists are replaced whole. What a key may hold is read off the
dataclasses of `config`, so a key is described once.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import json
import os
import re
import zoneinfo
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, get_args, get_origin, get_type_hints

from groupreplay.config.advice import below, expected, nearest, nearest_key
from groupreplay.config.checks import check_together
from groupreplay.config.kafka_options import connected, read_options
from groupreplay.config.model import ClientVersions, Config, GroupThresholds, Owner, Thresholds
from groupreplay.config.shown import shown
from groupreplay.config.sources import (
    SOURCE_KINDS,
    AnySource,
    KafkaSource,
    KafkaTopicsSource,
    RequestLogSource,
    ServerLogSource,
    Source,
)
from groupreplay.config.strict_yaml import parse_yaml, read_text
from groupreplay.config.tree import found, merged, nested, put
from groupreplay.errors import ConfigError
from groupreplay.records.log_events import REQUEST_LOG, SERVER_LOG
from groupreplay.wire.text.line_layout import LineLayout

BASE = "conf/base.yaml"
OVERRIDE = "--set"
_PATHS = frozenset({"warehouse", "private_warehouse", "path", "owners"})
_PRIVACY = "privacy"
_REFERENCE = re.compile(r"\$\{env:([^}]*)\}")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SOURCES: Mapping[str, type[AnySource]] = {
    SERVER_LOG: ServerLogSource,
    REQUEST_LOG: RequestLogSource,
    "kafka": KafkaSource,
}
"""Kinds of sources with keys of their own."""


def load_config(path: str, overrides: Sequence[str] = (), *, only_reads: bool = False) -> Config:
    """The configuration of the file at `path` (local), with `key=value` overrides on it. Raises
    ConfigError.

    only_reads: for who reads tables and writes none: secrets are not asked for, and None.
    """
    base = _parse(
        resources.files("groupreplay").joinpath("_base.yaml").read_text(encoding="utf-8"), BASE
    )
    layers = {BASE: base, path: _parse(read_text(path), path)}
    tree = merged(base, layers[path])
    for override in overrides:
        name, key, value = _override(override)
        put(tree, key, value, name)
        layers[name] = nested(key, value)
    reader = _Reader(layers, path, only_reads)
    config: Config = reader.section(Config, tree, "")
    check_together(config, reader.error, only_reads=only_reads)
    config = dataclasses.replace(config, sources=connected(config.sources, reader.error))
    rules = _owner_rules(config.owners) if config.owners and not only_reads else ()
    canonical = json.dumps(
        tree | {"owner_rules": [dataclasses.asdict(rule) for rule in rules]},
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )
    config_hash = hashlib.sha256(canonical.encode()).hexdigest()
    return dataclasses.replace(
        config, owner_rules=rules, config_hash=config_hash, in_force=shown(tree)
    )


def _owner_rules(path: str) -> tuple[Owner, ...]:
    """The rules of the owners file, in order."""
    tree = parse_yaml(read_text(path), path)
    if not isinstance(tree, list):
        raise ConfigError(
            path,
            "",
            f"expected a list of {{pattern: .., team: .., contact: ..}}, found {found(tree)}",
        )
    reader = _Reader({path: tree}, path)
    return tuple(reader.section(Owner, rule, str(place)) for place, rule in enumerate(tree))


# ---------------------------------------------------------------- text -> tree


def _parse(text: str, name: str) -> dict[str, Any]:
    tree = parse_yaml(text, name)
    if tree is None:
        return {}
    if not isinstance(tree, dict):
        raise ConfigError(name, "", f"expected a mapping of keys, found {found(tree)}")
    return tree


def _override(text: str) -> tuple[str, str, Any]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(OVERRIDE, "", f"expected key=value, found {text!r}")
    # Messages name the argument that they blame, but not what may be a secret that stands in the
    # wrong place.
    is_secret = key.strip().split(".")[0] == _PRIVACY or "options" in text
    name = f"{OVERRIDE} {key.strip()}" if is_secret else f"{OVERRIDE} {text}"
    return name, key.strip(), parse_yaml(value, name)


# ---------------------------------------------------------------- tree -> dataclasses


class _Reader:
    """Reads dataclasses off a merged tree.

    layers: name -> tree, later ones over earlier ones.
    main: the layer that a missing key is missing in.
    """

    def __init__(self, layers: Mapping[str, Any], main: str, only_reads: bool = False) -> None:
        self.layers, self.main, self.only_reads = layers, main, only_reads

    def section(self, cls: Any, tree: Any, key: str) -> Any:
        """An instance of the dataclass from a mapping."""
        if not isinstance(tree, dict):
            raise self.error(key, f"expected a mapping of keys, found {found(tree)}")
        fields = {
            field.name: field
            for field in dataclasses.fields(cls)
            if not field.metadata.get("computed")
        }
        for name in tree:
            if name not in fields:
                raise self.error(
                    below(key, name), f"there is no such key{nearest_key(name, list(fields))}"
                )
        hints, values = get_type_hints(cls), {}
        for name, field in fields.items():
            if name in tree:
                values[name] = self.value(hints[name], field.metadata, tree[name], below(key, name))
            elif (
                field.default is dataclasses.MISSING
                and field.default_factory is dataclasses.MISSING
            ):
                raise ConfigError(
                    self.main,
                    below(key, name),
                    f"is missing, expected {expected(hints[name], field.metadata)}",
                )
        return cls(**values)

    def value(self, hint: Any, metadata: Mapping[str, Any], value: Any, key: str) -> Any:
        if get_origin(hint) is tuple:
            return self.sequence(get_args(hint)[0], value, metadata, key)
        if "kafka_options" in metadata:
            return {} if self.only_reads else read_options(value, key, self.error, self.variable)
        if "secret" in metadata:
            return self.secret(value, metadata["secret"], key)
        if dataclasses.is_dataclass(hint):
            return self.section(hint, value, key)
        if isinstance(value, str):
            value = self.with_environment(value, key, as_text=hint is str)
        if value is None and type(None) in get_args(hint):
            return None
        if hint is bool:
            fits = isinstance(value, bool)
        else:
            fits = (
                isinstance(value, str) and (value != "" or "pattern" in metadata)
                if str in (hint, *get_args(hint))
                else isinstance(value, int) and not isinstance(value, bool)
            )
        if not fits or not _within(value, metadata):
            raise self.error(key, f"expected {expected(hint, metadata)}, found {found(value)}")
        if "check" in metadata:
            _CHECKS[metadata["check"]](self, value, key)
        return _resolved(value) if key.rpartition(".")[2] in _PATHS else value

    def sequence(
        self, each: Any, value: Any, metadata: Mapping[str, Any], key: str
    ) -> tuple[Any, ...]:
        if each == AnySource:
            return self.sources(value, metadata, key)
        if "patterns" in metadata:
            return self.patterns(value, key)
        if each is GroupThresholds:
            return self.group_thresholds(value, metadata["max"], key)
        if each is ClientVersions:
            trees = self.mappings(value, metadata["max"], key)
            return tuple(self.section(each, tree, own) for own, tree in trees)
        return self.choices(value, metadata["choices"], key)

    def patterns(self, value: Any, key: str) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise self.error(key, f"expected a list of patterns of group ids, found {found(value)}")
        return tuple(
            self.value(str, {}, each, f"{key}.{index}") for index, each in enumerate(value)
        )

    def group_thresholds(self, value: Any, most: int, key: str) -> tuple[GroupThresholds, ...]:
        groups = []
        for own, tree in self.mappings(value, most, key):
            if not isinstance(tree, dict) or "pattern" not in tree:
                raise self.error(
                    own,
                    "expected a mapping with the key pattern and the thresholds of the groups that"
                    " match it",
                )
            pattern = self.value(str, {}, tree["pattern"], f"{own}.pattern")
            given = {name: limit for name, limit in tree.items() if name != "pattern"}
            limits = self.section(Thresholds, given, own)
            groups.append(
                GroupThresholds(
                    pattern=pattern, limits={name: getattr(limits, name) for name in given}
                )
            )
        return tuple(groups)

    def mappings(self, value: Any, most: int, key: str) -> list[tuple[str, Any]]:
        """The key of each place of a list, with what stands there."""
        if not isinstance(value, list) or len(value) > most:
            raise self.error(
                key, f"expected a list of at most {most} mappings, found {found(value)}"
            )
        return [(f"{key}.{place}", tree) for place, tree in enumerate(value)]

    def sources(self, value: Any, metadata: Mapping[str, Any], key: str) -> tuple[AnySource, ...]:
        if not isinstance(value, list) or len(value) < metadata["min"]:
            raise self.error(
                key, f"expected a list of at least {metadata['min']} source, found {found(value)}"
            )
        return tuple(self.source(tree, f"{key}.{index}") for index, tree in enumerate(value))

    def source(self, tree: Any, key: str) -> AnySource:
        kind = tree.get("kind") if isinstance(tree, dict) else None
        if kind is not None and kind not in SOURCE_KINDS:
            raise self.error(
                f"{key}.kind",
                f"there is no kind of source {kind!r}{nearest(str(kind), SOURCE_KINDS)}",
            )
        if kind == "topics" and "from" in tree:
            if tree["from"] != "kafka":
                raise self.error(f"{key}.from", f"expected kafka, found {found(tree['from'])}")
            tree = {name: value for name, value in tree.items() if name != "from"}
            topics: KafkaTopicsSource = self.section(KafkaTopicsSource, tree, key)
            return topics
        source: AnySource = self.section(_SOURCES.get(str(kind), Source), tree, key)
        return source

    def choices(self, value: Any, choices: Sequence[str], key: str) -> tuple[str, ...]:
        """Names out of a few, each once and in order, so that the order in which they are given
        says nothing.
        """
        if not isinstance(value, list):
            raise self.error(key, f"expected a list of {', '.join(choices)}, found {found(value)}")
        for each in value:
            if each not in choices:
                raise self.error(
                    key,
                    f"there is no field {found(each)} that could be"
                    f" hashed{nearest(str(each), choices)}",
                )
        return tuple(sorted(set(value)))

    def secret(self, value: Any, least: int, key: str) -> str | None:
        """No message ever quotes what stands there."""
        if value is None:
            return None
        reference = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if reference is None:
            raise self.error(
                key,
                "expected ${env:NAME}: a secret stands in the environment, never in a"
                " configuration",
            )
        if self.only_reads:
            return None
        found: str = self.with_environment(value, key, as_text=True)
        if len(found) < least:
            raise self.error(
                key,
                f"expected at least {least} characters in the variable {reference[1]!r} of the"
                " environment, found fewer",
            )
        return found

    def check_timezone(self, name: str, key: str) -> None:
        names = sorted(zoneinfo.available_timezones())
        if name in names:
            return
        by_lower_case = {each.lower(): each for each in names} | {
            each.rpartition("/")[2].lower(): each for each in names
        }
        nearest = difflib.get_close_matches(
            name.lower().replace(" ", "_"), list(by_lower_case), 1, 0.6
        )
        says = (
            f"; did you mean {by_lower_case[nearest[0]]!r}?"
            if nearest
            else "; expected an IANA name such as UTC or Europe/Berlin"
        )
        raise self.error(key, f"there is no time zone {name!r}{says}")

    def check_layout(self, pattern: str, key: str) -> None:
        try:
            LineLayout.of(pattern)
        except ValueError as error:
            raise self.error(key, f"expected a log4j pattern that can be read: {error}") from error

    def with_environment(self, text: str, key: str, as_text: bool) -> Any:
        """The text with its ${env:NAME} replaced; where a number belongs, what came in is read as
        YAML reads it.
        """

        replaced = _REFERENCE.sub(lambda match: self.variable(match[1], key), text)
        return replaced if as_text or replaced == text else parse_yaml(replaced, self.origin(key))

    def variable(self, name: str, key: str) -> str:
        value = os.environ.get(name)
        if value is None:
            raise self.error(
                key, f"the environment has no variable {name!r}, which ${{env:{name}}} asks for"
            )
        return value

    def error(self, key: str, problem: str) -> ConfigError:
        return ConfigError(self.origin(key), key, problem)

    def origin(self, key: str) -> str:
        """The topmost layer that says anything at, above or below the key."""
        for name in reversed(list(self.layers)):
            if _says(self.layers[name], key.split(".") if key else []):
                return name
        return self.main


_CHECKS = {"timezone": _Reader.check_timezone, "layout": _Reader.check_layout}
"""What `check` in a field's metadata asks for."""


def _says(tree: Any, parts: Sequence[str]) -> bool:
    for part in parts:
        if isinstance(tree, list):
            if not part.isdecimal() or int(part) >= len(tree):
                return False
            tree = tree[int(part)]
        elif isinstance(tree, dict):
            if part not in tree:
                return False
            tree = tree[part]
        else:
            return True
    return True


def _within(value: str | int, metadata: Mapping[str, Any]) -> bool:
    if isinstance(value, str):
        return re.fullmatch(metadata.get("pattern", r"(?s).+"), value) is not None
    return bool(metadata.get("min", value) <= value <= metadata.get("max", value))


def _resolved(path: str) -> str:
    """A URI as it is; a local path absolute, because executors start elsewhere. A slash at its end
    stays.
    """
    if _URI.match(path):
        return path
    absolute = os.path.abspath(os.path.expanduser(path))
    return absolute + "/" if path.endswith("/") and absolute != "/" else absolute
