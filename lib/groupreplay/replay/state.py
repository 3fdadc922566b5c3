"""A life to bytes and back, so that the next night goes on where this one ended.

Layout: one version byte, then zlib over JSON. A dataclass is a flat list [field number, value, ..] of the fields that differ from their default; the
first element of the whole is a fingerprint of every class's fields, so that a state of another layout is refused, never misread.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import operator
import types
import typing
import zlib
from collections.abc import Callable, Iterable
from typing import Any

from groupreplay.replay import facts, life
from groupreplay.replay.life import CLASSIC, Life, TopicPartition

STATE_VERSION = 2

Convert = Callable[[Any], Any]


class StateError(ValueError):
    """A state that this version cannot read: written by another layout, or damaged. The cure is a replay from the raw rows."""


def to_bytes(state: Life) -> bytes:
    """The life as bytes; equal lives give equal bytes."""
    state.contested = _contested(state)
    return bytes([STATE_VERSION]) + zlib.compress(json.dumps([FINGERPRINT, _ENCODE(state)], separators=(",", ":"), ensure_ascii=True).encode(), 1)


def from_bytes(data: bytes) -> Life:
    """The life that `to_bytes` wrote. Raises StateError."""
    if not data or data[0] != STATE_VERSION:
        raise StateError(f"state of version {data[0] if data else 'none'}, expected {STATE_VERSION}")
    try:
        fingerprint, encoded = json.loads(zlib.decompress(data[1:]))
        if fingerprint == FINGERPRINT:
            restored: Life = _DECODE(encoded)
            _derive(restored)
            return restored
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, zlib.error) as e:
        raise StateError(f"damaged state: {e}") from e
    raise StateError(f"state of layout {fingerprint}, expected {FINGERPRINT}")


def _contested(state: Life) -> dict[TopicPartition, str | None]:
    """Where the targets of the members alone do not say whose target a partition came into last: logs that break the rule of one target."""
    owner = state.target_owner
    targets = ((member.member_id, tp) for member in state.members.values() for tp in member.target or ())
    return {tp: owner.get(tp) for member_id, tp in targets if owner.get(tp) != member_id}


def _derive(restored: Life) -> None:
    """Makes the fields anew that are only an index of the others."""
    for member in restored.members.values():
        restored.classic_members += member.protocol == CLASSIC
        restored.clients[member.client_key] = restored.clients.get(member.client_key, 0) + 1
        if member.epoch is not None and member.state == 0:
            restored.stable[member.epoch] = restored.stable.get(member.epoch, 0) + 1
        for tp in member.spans:
            restored.holders.setdefault(tp, []).append(member.member_id)
        for tp in member.waiting:
            restored.waiters.setdefault(tp, set()).add(member.member_id)
        for tp in member.target or ():
            restored.target_owner[tp] = member.member_id
    for tp, owner in restored.contested.items():
        if owner is None:
            restored.target_owner.pop(tp, None)
        else:
            restored.target_owner[tp] = owner
    restored.unowned = {tp for tp, trail in restored.trails.items() if trail.released or trail.handed}


# ---------------------------------------------------------------- converters, made once from the types of the fields


def converters(hint: Any) -> tuple[Convert | None, Convert | None]:
    """(encode, decode) of a type, to and from what JSON has; None where the value passes as it is."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _optional(*converters(next(a for a in args if a is not type(None))))
    if dataclasses.is_dataclass(hint):
        return _dataclass(typing.cast("type[Any]", hint))
    if origin is list:
        return _sequence(list, *converters(args[0]))
    if origin in (set, frozenset):
        return _set(origin, *converters(args[0]))
    if origin is dict:
        return _mapping(converters(args[0]), converters(args[1]), is_sorted=typing.get_origin(args[0]) is tuple)
    if origin is tuple:
        return list, tuple
    return None, None


def _optional(encode: Convert | None, decode: Convert | None) -> tuple[Convert | None, Convert | None]:
    if encode is None or decode is None:
        return None, None
    return (lambda v: None if v is None else encode(v)), (lambda v: None if v is None else decode(v))


def _sequence(make: Callable[[Iterable[Any]], Any], encode: Convert | None, decode: Convert | None) -> tuple[Convert | None, Convert | None]:
    if encode is None or decode is None:
        return list, make
    return (lambda v: [encode(x) for x in v]), (lambda v: make([decode(x) for x in v]))


def _set(make: Callable[[Iterable[Any]], Any], encode: Convert | None, decode: Convert | None) -> tuple[Convert | None, Convert | None]:
    if encode is None or decode is None:
        return sorted, make
    return sorted, (lambda v: make([decode(x) for x in v]))


def _mapping(keys: tuple[Convert | None, Convert | None], values: tuple[Convert | None, Convert | None], is_sorted: bool) -> tuple[Convert, Convert]:
    """is_sorted: by key. Partitions come from sets, whose order differs from one Python to the next; members come in the order of the log."""
    encode_key, decode_key = (c or _same for c in keys)
    encode, decode = (c or _same for c in values)
    items: Convert = (lambda v: sorted(v.items(), key=_key)) if is_sorted else (lambda v: v.items())
    return (lambda v: [[encode_key(k), encode(x)] for k, x in items(v)]), (lambda v: {decode_key(k): decode(x) for k, x in v})


def _key(item: tuple[Any, Any]) -> Any:
    return item[0]


def _same(value: Any) -> Any:
    return value


def _dataclass(cls: type[Any]) -> tuple[Convert, Convert]:
    hints = typing.get_type_hints(cls)
    fields = [f for f in dataclasses.fields(cls) if not f.metadata.get("derived")]
    encoders = [(i, _default(f), converters(hints[f.name])[0]) for i, f in enumerate(fields)]
    values_of = operator.attrgetter(*(f.name for f in fields))
    decoders = [(f.name, converters(hints[f.name])[1]) for f in fields]

    def encode(value: Any) -> list[Any]:
        out: list[Any] = []
        for (index, default, convert), field_value in zip(encoders, values_of(value), strict=True):
            if field_value is not default and field_value != default:
                out += (index, field_value if convert is None else convert(field_value))
        return out

    def decode(encoded: list[Any]) -> Any:
        arguments: dict[str, Any] = {}
        for index, field_value in zip(encoded[::2], encoded[1::2], strict=True):
            name, convert = decoders[index]
            arguments[name] = field_value if convert is None else convert(field_value)
        return cls(**arguments)

    return encode, decode


_REQUIRED = object()


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default is not dataclasses.MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not dataclasses.MISSING else _REQUIRED


def layout(classes: Iterable[type[Any]]) -> str:
    """A fingerprint of what is kept of every class that a state can hold."""
    text = "\n".join(
        f"{c.__name__}:" + ",".join(f"{f.name}={f.type}" for f in dataclasses.fields(c) if not f.metadata.get("derived")) for c in classes
    )
    return hashlib.sha256(text.encode()).hexdigest()[:8]


KEPT: tuple[type[Any], ...] = (life.Life, life.Member, life.Span, life.Trail, life.Departure, *facts.FACTS)
"""Every class that a state can hold."""

FINGERPRINT = layout(KEPT)
_ENCODE, _DECODE = typing.cast("tuple[Convert, Convert]", converters(Life))
