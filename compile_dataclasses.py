"""What `compile_core.py` does about the dataclasses of a module, of which mypyc makes too little.

It keeps of an annotation the outermost class alone: `annotations_of` is what the loader gives back
(`groupreplay.compiled_data`). It leaves constructors to `dataclasses`, which are interpreted and
set one field after the other by name: `with_constructors` writes each down, as `dataclasses` would,
so that it is compiled too. A constructor takes the empty line behind its class, so that every other
line keeps its number.

A call with `**life.place` makes a dict and has Python take it apart again: where a property is no
more than such a dict of fields, `with_fields_passed` names the fields in the call itself.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

_BUILTINS: Final = frozenset(dir(builtins))
POST_INIT: Final = "__post_init__"


@dataclass
class Field:
    """default: as an expression, "" none. factory: what makes it."""

    name: str
    hint: str
    default: str = ""
    factory: str = ""
    is_inherited: bool = False


@dataclass
class DataClass:
    """fields: None where it has what no constructor is written down for: a class that is not of the
    core, `init=False` and nothing that sets such a field later, a constructor of its own, or that
    is frozen.
    has_post_init: `__post_init__` is called when the fields are set, and sets the others.
    """

    name: str
    last_line: int
    is_kw_only: bool
    has_post_init: bool
    fields: list[Field] | None


def annotations_of(source: str) -> dict[str, dict[str, str]]:
    """Of the dataclasses of a module: class -> field -> type, as the source has it."""
    return {
        each.name: {name: hint for name, hint, _ in _annotated(each)}
        for each in ast.parse(source).body
        if isinstance(each, ast.ClassDef) and _decorator(each) is not None
    }


def with_constructors(sources: Mapping[str, str]) -> dict[str, str]:
    """Of modules by path."""
    trees = {path: ast.parse(text) for path, text in sources.items()}
    classes = {
        each.name: each
        for tree in trees.values()
        for each in tree.body
        if isinstance(each, ast.ClassDef) and _decorator(each) is not None
    }
    return {
        path: _written(sources[path], [_data_class(each, classes) for each in _all(tree)])
        for path, tree in trees.items()
    }


def _all(tree: ast.Module) -> list[ast.ClassDef]:
    return [e for e in tree.body if isinstance(e, ast.ClassDef) and _decorator(e) is not None]


def _decorator(of: ast.ClassDef) -> dict[str, bool] | None:
    """The options of its @dataclass; None where it has none."""
    for each in of.decorator_list:
        called = each.func if isinstance(each, ast.Call) else each
        if ast.unparse(called) in ("dataclass", "dataclasses.dataclass"):
            options = each.keywords if isinstance(each, ast.Call) else []
            return {o.arg or "": bool(ast.literal_eval(o.value)) for o in options}
    return None


def _annotated(of: ast.ClassDef) -> Iterable[tuple[str, str, ast.expr | None]]:
    for each in of.body:
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
            yield each.target.id, ast.unparse(each.annotation), each.value


def _data_class(of: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> DataClass:
    options = _decorator(of) or {}
    last_line = of.end_lineno or of.lineno
    is_kw_only, has_post_init = options.get("kw_only", False), POST_INIT in _methods(of)
    return DataClass(of.name, last_line, is_kw_only, has_post_init, _fields(of, classes))


def _methods(of: ast.ClassDef) -> set[str]:
    return {each.name for each in of.body if isinstance(each, ast.FunctionDef)}


def _fields(of: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> list[Field] | None:
    options = _decorator(of) or {}
    methods = _methods(of)
    if options.get("frozen") or not options.get("init", True):
        return None
    if "__init__" in methods or len(of.bases) > 1 or (POST_INIT in methods and of.bases):
        return None
    found: list[Field] = []
    for base in of.bases:
        known = classes.get(ast.unparse(base))
        inherited = _fields(known, classes) if known is not None else None
        if known is None or inherited is None or _decorator(known) != options:
            return None
        if POST_INIT in _methods(known):
            return None
        found += [_inherited(each) for each in inherited]
    for name, hint, value in _annotated(of):
        if hint.startswith("ClassVar") or (POST_INIT in methods and _is_set_later(value)):
            continue
        field = _field(name, hint, value)
        if field is None:
            return None
        found.append(field)
    return found if all(_is_known(each) for each in found) else None


def _is_set_later(value: ast.expr | None) -> bool:
    """Whether a field is `field(init=False)`."""
    return value is not None and ast.unparse(value) == "field(init=False)"


def _inherited(field: Field) -> Field:
    return Field(field.name, field.hint, field.default, field.factory, is_inherited=True)


def _field(name: str, hint: str, value: ast.expr | None) -> Field | None:
    """None for one that has options which no constructor is written down for."""
    if value is None:
        return Field(name, hint)
    if not (isinstance(value, ast.Call) and ast.unparse(value.func) == "field"):
        return Field(name, hint, ast.unparse(value))
    told = {each.arg: ast.unparse(each.value) for each in value.keywords}
    if not told.keys() <= {"default", "default_factory", "metadata", "compare", "repr"}:
        return None
    return Field(name, hint, told.get("default", ""), told.get("default_factory", ""))


def _is_known(field: Field) -> bool:
    """Whether the module of the class knows all that the constructor names: what a field of a base
    names stands in another one."""
    if not field.is_inherited:
        return True
    parts = (field.hint, field.default or "0", field.factory or "0")
    names = {n.id for p in parts for n in ast.walk(ast.parse(p)) if isinstance(n, ast.Name)}
    return names <= _BUILTINS


def _written(source: str, classes: list[DataClass]) -> str:
    lines = [*source.split("\n"), ""]
    for each in classes:
        if not each.fields:
            continue
        line = each.last_line  # the one behind it, as lines count from 1
        if lines[line].strip():
            raise SystemExit(f"no empty line behind the class {each.name}")
        lines[line] = _constructor(each, each.fields)
    if any(field.factory for each in classes for field in each.fields or ()):
        imports = [e for e in ast.parse(source).body if isinstance(e, ast.Import | ast.ImportFrom)]
        last = imports[-1].end_lineno or 1
        lines[last - 1] += "; from typing import Any as _Any"
    return "\n".join(lines)


def _constructor(of: DataClass, fields: list[Field]) -> str:
    told = ["self", *(["*"] if of.is_kw_only else []), *map(_parameter, fields)]
    sets = "; ".join(f"self.{each.name} = {_value(each)}" for each in fields)
    sets += f"; self.{POST_INIT}()" if of.has_post_init else ""
    return f"    def __init__({', '.join(told)}) -> None: {sets}"


def _parameter(field: Field) -> str:
    if field.factory:
        return f"{field.name}: _Any = ..."
    return f"{field.name}: {field.hint}" + (f" = {field.default}" if field.default else "")


def _value(field: Field) -> str:
    if not field.factory:
        return field.name
    return f"{field.factory}() if {field.name} is ... else {field.name}"


# ------------------------------------------------------------ calls

Described = Mapping[str, Mapping[str, str]]
"""Property that is a dict of fields -> key -> field."""


def with_fields_passed(sources: Mapping[str, str]) -> dict[str, str]:
    """Of modules by path. Every line keeps its number."""
    trees = {path: ast.parse(text) for path, text in sources.items()}
    described = _described(tree for tree in trees.values())
    return {path: _passed(sources[path], tree, described) for path, tree in trees.items()}


def _described(trees: Iterable[ast.Module]) -> Described:
    """Without names that several classes have: a call does not show whose they are."""
    found: dict[str, dict[str, str]] = {}
    members: list[str] = []
    for of in (each for tree in trees for each in tree.body if isinstance(each, ast.ClassDef)):
        members += [*_methods(of), *(name for name, _, _ in _annotated(of))]
        for method in of.body:
            if isinstance(method, ast.FunctionDef) and (fields := _dict_of(method)):
                found[method.name] = fields
    return {name: fields for name, fields in found.items() if members.count(name) == 1}


def _dict_of(method: ast.FunctionDef) -> dict[str, str]:
    """{} of one that is more than a dict of fields."""
    last = method.body[-1]
    is_short = len(method.body) == 1 + (ast.get_docstring(method) is not None)
    is_property = [ast.unparse(each) for each in method.decorator_list] == ["property"]
    if not (is_short and is_property and isinstance(last, ast.Return)):
        return {}
    if not isinstance(last.value, ast.Dict):
        return {}
    keys, values = last.value.keys, last.value.values
    told = {ast.literal_eval(k): v for k, v in zip(keys, values, strict=True) if k is not None}
    fields = [each for each in values if isinstance(each, ast.Attribute)]
    if len(fields) < len(keys) or any(ast.unparse(each.value) != "self" for each in fields):
        return {}
    return {key: field.attr for key, field in zip(told, fields, strict=True)}


def _passed(source: str, tree: ast.Module, described: Described) -> str:
    lines = [line.encode() for line in source.split("\n")]
    spread = [
        (each, each.value)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for each in call.keywords
        if each.arg is None and isinstance(each.value, ast.Attribute)
    ]
    for each, value in sorted(spread, key=lambda found: -found[0].col_offset):
        whose = ast.unparse(value.value)
        if value.attr in described and whose.replace(".", "").isidentifier():
            passed = ", ".join(f"{k}={whose}.{f}" for k, f in described[value.attr].items())
            line = lines[each.lineno - 1]
            before, after = line[: each.col_offset], line[each.end_col_offset :]
            lines[each.lineno - 1] = before + passed.encode() + after
    return b"\n".join(lines).decode()
