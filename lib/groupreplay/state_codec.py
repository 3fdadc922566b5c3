"""Dataclasses to bytes and back, by the names of their classes and fields: states outlive the code.

Layout, version 3: the version byte; CRC-32 of what follows; the length of the names, 2 bytes; the
names; the values. Both are JSON, each in a raw deflate stream with a preset dictionary. The names
are {class: [field, ..]} of the classes that the state holds; a field whose meaning has changed is
field@version. The values of a dataclass are a flat list [number of a field in its names, value, ..]
of what differs from its default.

A field that the code does not know is skipped, one that the state does not have takes its default,
so every new field has one. Who changes what a field means, its type or its default, gives it the
next version (`version_of`) and a converter from each one before.
"""

from __future__ import annotations

import dataclasses
import json
import operator
import struct
import sys
import types
import typing
import zlib
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

STATE_VERSION = 3

Convert = Callable[[Any], Any]
Converter = Callable[[Any, Mapping[str, Any]], Any]
"""The value as the state's JSON has it, None for the default it then had, and the other fields of
its object as they are now, by name: the value as it is meant now."""

Converters = Mapping[tuple[str, str, int], Converter]
"""By class, field, and the version of it that was written."""

Names = Mapping[str, list[str]]
Kept = TypeVar("Kept")


class StateError(ValueError):
    """A state that cannot be read: damaged, or written by newer code. The cure is a replay from
    the raw rows."""


@dataclasses.dataclass(frozen=True, slots=True)
class FirstVersion:
    """States of version 1, which named nothing: numbers of fields in an order that is kept here.

    mark: their first byte, which is zlib's own where no version byte came before it.
    """

    mark: bytes
    fingerprint: str
    fields: Mapping[str, str]

    @property
    def names(self) -> Names:
        return {name: fields.split() for name, fields in self.fields.items()}


class Codec(Generic[Kept]):
    """States of one kind, whose root is a dataclass. Not for several threads at once.

    first: the version that names nothing.
    names, words: dictionaries of the names and of the values, each the same for ever.
    renamed: class as earlier code called it -> as it is called now; class.field -> field.
    converters: (class, field, version that was written) -> to what it means now.
    """

    def __init__(
        self,
        root: type[Kept],
        first: FirstVersion,
        names: bytes,
        words: bytes,
        renamed: Mapping[str, str],
        converters: Converters,
    ) -> None:
        self._root, self._first, self._names, self._words = root, first, names, words
        self._renamed, self._converters = renamed, converters
        self._held: set[str] = set()
        self._encode = typing.cast("Convert", encoder(root, self._held))
        self._names_by_class: Names = {}
        self._packed_names: dict[frozenset[str], bytes] = {}
        self._decoders: dict[bytes, Convert] = {}

    def to_bytes(self, value: Kept) -> bytes:
        """Equal values give equal bytes."""
        self._held.clear()
        values = _json(self._encode(value))
        kept = self._names_of(frozenset(self._held)) + _packed(values, self._words, 1)
        return _HEAD.pack(STATE_VERSION, zlib.crc32(kept)) + kept

    def from_bytes(self, data: bytes) -> Kept:
        """What `to_bytes` wrote, of this code or of earlier code. Raises StateError."""
        try:
            if data[:1] == self._first.mark:
                return self._of_first_version(data)
            return self._of_names(data)
        except StateError:
            raise
        except _DAMAGE as e:
            raise StateError(f"damaged state: {e}") from e

    def _of_names(self, data: bytes) -> Kept:
        if data[:1] != bytes([STATE_VERSION]):
            version = data[0] if data else "none"
            raise StateError(f"state of version {version}, known are 1 and {STATE_VERSION}")
        _, checksum = _HEAD.unpack_from(data)
        kept = data[_HEAD.size :]
        if zlib.crc32(kept) != checksum:
            raise StateError("damaged state: its checksum is another")
        end = _LENGTH.size + _LENGTH.unpack_from(kept)[0]
        packed_names = kept[_LENGTH.size : end]
        decode = self._decoders.get(packed_names)
        if decode is None:
            named = json.loads(_unpacked(packed_names, self._names))
            decode = self._decoders[packed_names] = self._decoder(named)
        restored: Kept = decode(json.loads(_unpacked(kept[end:], self._words)))
        return restored

    def _of_first_version(self, data: bytes) -> Kept:
        first = self._first
        packed = data if first.mark == _ZLIB else data[1:]
        fingerprint, encoded = json.loads(zlib.decompress(packed))
        if fingerprint != first.fingerprint:
            raise StateError(f"state of layout {fingerprint}, known is {first.fingerprint}")
        decode = self._decoders.get(first.mark)
        if decode is None:
            decode = self._decoders[first.mark] = self._decoder(first.names)
        restored: Kept = decode(encoded)
        return restored

    def _names_of(self, held: frozenset[str]) -> bytes:
        """The names of classes as they are written, behind their length."""
        if held not in self._packed_names:
            if not self._names_by_class:
                self._names_by_class = {c.__name__: _names(c) for c in classes_of(self._root)}
            named = {c: names for c, names in self._names_by_class.items() if c in held}
            packed = _packed(_json(named), self._names, 9)
            self._packed_names[held] = _LENGTH.pack(len(packed)) + packed
        return self._packed_names[held]

    def _decoder(self, named: Names) -> Convert:
        known = {
            self._renamed.get(name, name): [self._renamed.get(f"{name}.{f}", f) for f in fields]
            for name, fields in named.items()
        }
        return typing.cast("Convert", decoder(self._root, known, self._converters))


_OF_VALUES = (ValueError, TypeError, LookupError, AttributeError, RecursionError)
_DAMAGE = (*_OF_VALUES, zlib.error, struct.error)
_HEAD = struct.Struct(">BI")
_LENGTH = struct.Struct(">H")
_ZLIB = b"\x78"


_TO_JSON = json.JSONEncoder(separators=(",", ":"), check_circular=False)
"""What it encodes is made for it, and has no circle."""


def _json(value: Any) -> bytes:
    return _TO_JSON.encode(value).encode()


def _packed(text: bytes, dictionary: bytes, level: int) -> bytes:
    packer = zlib.compressobj(level, wbits=-zlib.MAX_WBITS, zdict=dictionary)
    return packer.compress(text) + packer.flush()


def _unpacked(data: bytes, dictionary: bytes) -> bytes:
    return zlib.decompressobj(-zlib.MAX_WBITS, dictionary).decompress(data)


# ------------------------------------------------------------ classes and their fields


def version_of(number: int) -> dict[str, Any]:
    """Metadata of a field that does not mean what it meant in the version before."""
    return {"version": number}


DERIVED = {"derived": True}
"""Metadata of a field that no state holds: it is made of the others when a state is read back, or
set by who takes the object out.
"""


_HINTS: typing.Final[dict[type[Any], dict[str, Any]]] = {}


def hints_of(cls: type[Any]) -> dict[str, Any]:
    """Types of a class's fields. Python evaluates them from text at each call: a decoder of all
    that a state can hold takes 25 ms with that, and 5 without. A worker makes one for each set of
    classes that states hold, some dozens a night.
    """
    if cls not in _HINTS:
        _HINTS[cls] = typing.get_type_hints(cls)
    return _HINTS[cls]


def kept_fields(cls: type[Any]) -> list[dataclasses.Field[Any]]:
    return [f for f in dataclasses.fields(cls) if not f.metadata.get("derived")]


def classes_of(hint: Any) -> list[type[Any]]:
    """Every dataclass that a value of this type can hold, in the order in which they come up."""
    found: dict[type[Any], None] = {}
    if dataclasses.is_dataclass(hint):
        cls = typing.cast("type[Any]", hint)
        hints = hints_of(cls)
        found[cls] = None
        for field in kept_fields(cls):
            found |= dict.fromkeys(classes_of(hints[field.name]))
    for argument in typing.get_args(hint):
        found |= dict.fromkeys(classes_of(argument))
    return list(found)


def field_version(field: dataclasses.Field[Any]) -> int:
    return int(field.metadata.get("version", 1))


def _names(cls: type[Any]) -> list[str]:
    versions = {f.name: field_version(f) for f in kept_fields(cls)}
    return [name if version == 1 else f"{name}@{version}" for name, version in versions.items()]


_REQUIRED = object()


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return _REQUIRED


# ------------------------------------------------------------ to what JSON has


def encoder(hint: Any, held: set[str]) -> Convert | None:
    """How a value of a type is encoded; None where it passes as it is. Every class that it meets
    goes into held."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        inner = encoder(_the_other(args), held)
        return None if inner is None else lambda v: None if v is None else inner(v)
    if dataclasses.is_dataclass(hint):
        return _class_encoder(typing.cast("type[Any]", hint), held)
    if origin is list:
        each = encoder(args[0], held)
        return list if each is None else lambda v: [each(x) for x in v]
    if origin in (set, frozenset):
        return sorted
    if origin is dict:
        return _mapping_encoder(args, held)
    return list if origin is tuple else None


def _the_other(args: tuple[Any, ...]) -> Any:
    return next(a for a in args if a is not type(None))


def _mapping_encoder(args: tuple[Any, ...], held: set[str]) -> Convert:
    """Partitions come from sets, whose order differs from one Python to the next: they are sorted.
    Members come in the order of the log."""
    is_sorted = typing.get_origin(args[0]) is tuple
    encode_key, encode = (encoder(hint, held) or _same for hint in args)
    items: Convert = (lambda v: sorted(v.items(), key=_key)) if is_sorted else (lambda v: v.items())
    return lambda v: [[encode_key(k), encode(x)] for k, x in items(v)]


def _key(item: tuple[Any, Any]) -> Any:
    return item[0]


def _same(value: Any) -> Any:
    return value


def _class_encoder(cls: type[Any], held: set[str]) -> Convert:
    hints, fields, name = hints_of(cls), kept_fields(cls), cls.__name__
    encoders = [(i, _default(f), encoder(hints[f.name], held)) for i, f in enumerate(fields)]
    values_of = _values_of([f.name for f in fields])

    def encode(value: Any) -> list[Any]:
        held.add(name)
        out: list[Any] = []
        for (index, default, convert), kept in zip(encoders, values_of(value), strict=True):
            if kept is not default and kept != default:
                out += (index, kept if convert is None else convert(kept))
        return out

    return encode


def _values_of(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    if len(names) == 1:
        return lambda v: (getattr(v, names[0]),)
    return operator.attrgetter(*names)


# ------------------------------------------------------------ and back, by the names of a state


def decoder(hint: Any, names: Names, converters: Converters) -> Convert | None:
    """How a value of a type is decoded where the fields of classes are named so; None where it
    passes as it is."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        inner = decoder(_the_other(args), names, converters)
        return None if inner is None else lambda v: None if v is None else inner(v)
    if dataclasses.is_dataclass(hint):
        return _class_decoder(typing.cast("type[Any]", hint), names, converters)
    if origin in (list, set, frozenset):
        return _many(typing.cast("Convert", origin), decoder(args[0], names, converters))
    if origin is dict:
        decode_key, decode = (decoder(arg, names, converters) or _same for arg in args)
        return lambda v: {decode_key(k): decode(x) for k, x in v}
    if origin is tuple:
        return _tuple_decoder(args, names, converters)
    return None


def _tuple_decoder(args: tuple[Any, ...], names: Names, converters: Converters) -> Convert:
    """JSON has lists for tuples, those inside tuples too."""
    each = [decoder(arg, names, converters) for arg in args if arg is not Ellipsis]
    if not any(each) or len(each) < len(args):
        return tuple if not any(each) else _many(tuple, each[0])
    decoders = [convert or _same for convert in each]
    return lambda v: tuple(convert(x) for convert, x in zip(decoders, v, strict=True))


def _many(make: Convert, each: Convert | None) -> Convert:
    return make if each is None else lambda v: make([each(x) for x in v])


def _class_decoder(cls: type[Any], names: Names, converters: Converters) -> Convert:
    hints = hints_of(cls)
    known = {f.name: f for f in kept_fields(cls)}
    written = dict(_name_and_version(text) for text in names.get(cls.__name__, ()))
    changed = {
        name: _converter(cls.__name__, name, version, converters)
        for name, version in written.items()
        if name in known and version != field_version(known[name])
    }
    same = {name: hint for name, hint in hints.items() if name not in changed}
    readers = [(name, decoder(same.get(name), names, converters)) for name in written]
    skipped = [name for name in written if name not in known]
    required = {f.name for f in known.values() if _default(f) is _REQUIRED}

    def decode(encoded: list[Any]) -> Any:
        arguments: dict[str, Any] = {}
        for index, value in zip(encoded[::2], encoded[1::2], strict=True):
            name, convert = readers[index]
            arguments[name] = value if convert is None else convert(value)
        for name in skipped:
            arguments.pop(name, None)
        for name, change in changed.items():
            arguments[name] = change(arguments.pop(name, None), arguments)
        try:
            return cls(**arguments)
        except TypeError as e:
            lacking = ", ".join(sorted(required - arguments.keys())) or e
            raise StateError(f"state with a {cls.__name__} without {lacking}") from e

    return decode


def _name_and_version(text: str) -> tuple[str, int]:
    name, _, version = text.partition("@")
    return sys.intern(name), int(version or 1)  # as keywords are, which makes a call twice as fast


def _converter(cls: str, name: str, version: int, converters: Converters) -> Converter:
    def refuse(value: Any, others: Mapping[str, Any]) -> Any:
        raise StateError(f"state with {cls}.{name} of version {version}, which newer code wrote")

    return converters.get((cls, name, version), refuse)
