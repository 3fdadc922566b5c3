"""What `compile_core.py` does about the dataclasses of a module, of which mypyc makes too little.

It keeps of an annotation the outermost class alone: `annotations_of` is what the loader gives back
(`groupreplay.compiled_data`). It leaves constructors to `dataclasses`, which are interpreted and
set one field after the other by name: `with_constructors` writes each down, as `dataclasses` would,
so that it is compiled too. A constructor takes the empty line behind its class, so that every other
line keeps its number.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

_BUILTINS: Final = frozenset(dir(builtins))


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
    core, `init=False`, `__post_init__` or a constructor of its own, or that is frozen.
    """

    name: str
    last_line: int
    is_kw_only: bool
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
    return DataClass(of.name, last_line, options.get("kw_only", False), _fields(of, classes))


def _fields(of: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> list[Field] | None:
    options = _decorator(of) or {}
    methods = {each.name for each in of.body if isinstance(each, ast.FunctionDef)}
    if options.get("frozen") or not options.get("init", True):
        return None
    if methods & {"__init__", "__post_init__"} or len(of.bases) > 1:
        return None
    found: list[Field] = []
    for base in of.bases:
        known = classes.get(ast.unparse(base))
        inherited = _fields(known, classes) if known is not None else None
        if known is None or inherited is None or _decorator(known) != options:
            return None
        found += [_inherited(each) for each in inherited]
    for name, hint, value in _annotated(of):
        if hint.startswith("ClassVar"):
            continue
        field = _field(name, hint, value)
        if field is None:
            return None
        found.append(field)
    return found if all(_is_known(each) for each in found) else None


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
    return f"    def __init__({', '.join(told)}) -> None: {sets}"


def _parameter(field: Field) -> str:
    if field.factory:
        return f"{field.name}: _Any = ..."
    return f"{field.name}: {field.hint}" + (f" = {field.default}" if field.default else "")


def _value(field: Field) -> str:
    if not field.factory:
        return field.name
    return f"{field.factory}() if {field.name} is ... else {field.name}"
