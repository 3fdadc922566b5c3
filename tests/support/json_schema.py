"""Whether a value is what a JSON schema says: the words of draft 7 that `conf/schema.json` uses.
Another word is an error, so that none goes unchecked.
"""

from __future__ import annotations

import re
from typing import Any, Final

_SAID_ONLY: Final = {"$schema", "title", "description", "default"}
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


def fits(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    """root: the whole schema, in which `$ref` points."""
    return all(
        _holds(word, said, value, schema, root)
        for word, said in schema.items()
        if word not in _SAID_ONLY
    )


def _holds(word: str, said: Any, value: Any, schema: dict[str, Any], root: dict[str, Any]) -> bool:
    match word:
        case "$ref":
            return fits(value, _pointed(said, root), root)
        case "type":
            return any(_is(value, name) for name in ([said] if isinstance(said, str) else said))
        case "enum":
            return any(value == each for each in said)
        case "not":
            return not fits(value, said, root)
        case "anyOf":
            return any(fits(value, each, root) for each in said)
    if isinstance(value, str) and word in ("pattern", "minLength"):
        return re.search(said, value) is not None if word == "pattern" else bool(len(value) >= said)
    if _is(value, "number") and word in ("minimum", "maximum"):
        return bool(value >= said if word == "minimum" else value <= said)
    if isinstance(value, list) and word in ("minItems", "maxItems", "items"):
        if word == "items":
            return all(fits(each, said, root) for each in value)
        return bool(len(value) >= said if word == "minItems" else len(value) <= said)
    if isinstance(value, dict):
        return _object_holds(word, said, value, schema, root)
    assert word in _OF_ONE_TYPE, f"no test knows {word}"
    return True


_OF_OBJECTS: Final = {"properties", "required", "additionalProperties", "propertyNames"}
_OF_ONE_TYPE: Final = _OF_OBJECTS | {
    "pattern",
    "minLength",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "items",
}


def _object_holds(
    word: str, said: Any, value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any]
) -> bool:
    match word:
        case "properties":
            return all(
                fits(value[name], each, root) for name, each in said.items() if name in value
            )
        case "required":
            return set(said) <= value.keys()
        case "propertyNames":
            return all(fits(name, said, root) for name in value)
        case "additionalProperties":
            more = [
                each for name, each in value.items() if name not in schema.get("properties", {})
            ]
            return not more if said is False else all(fits(each, said, root) for each in more)
    assert word in _OF_ONE_TYPE, f"no test knows {word}"
    return True


def _is(value: Any, name: str) -> bool:
    is_flag = isinstance(value, bool)
    return isinstance(value, _TYPES[name]) and (name == "boolean" or not is_flag)


def _pointed(pointer: str, root: dict[str, Any]) -> dict[str, Any]:
    at: Any = root
    for part in pointer.removeprefix("#/").split("/"):
        at = at[part]
    found: dict[str, Any] = at
    return found
