"""Compiled dataclasses are those of the sources: constructors, annotations, copies.

Holds compiled_data.py.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
import sys
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any, ClassVar, get_type_hints

import pytest

import compile_core
from compile_dataclasses import annotations_of, with_constructors, with_fields_passed
from groupreplay.compiled_data import annotated

MODULE = '''
from dataclasses import dataclass, field
from typing import ClassVar

@dataclass(kw_only=True)
class Base:
    KIND: ClassVar[str] = "base"
    group_id: str
    is_final: bool = False


@dataclass(kw_only=True)
class Row(Base):
    """
    Two lines.
    """
    parts: dict[str, list[int]] = field(default_factory=dict)
    at: int


@dataclass
class Frozen:
    at: int = field(init=False)


def line() -> int:
    raise ValueError
'''

SOURCES = {
    path: (compile_core.PACKAGE / path).read_text(encoding="utf-8")
    for path in compile_core.files_of(*compile_core.CORE)
}


@cache
def _written() -> dict[str, str]:
    return with_constructors(SOURCES)


def _module(source: str) -> ModuleType:
    made = ModuleType("made_of_source")
    sys.modules[made.__name__] = made
    try:
        exec(compile(source, "made_of_source", "exec"), made.__dict__)
    finally:
        del sys.modules[made.__name__]
    return made


def test_constructors_written_down_do_what_those_of_dataclasses_do() -> None:
    written = with_constructors({"m.py": MODULE})["m.py"]
    made = _module(written)
    row = made.Row(group_id="g", at=1)
    assert (row.group_id, row.is_final, row.parts, row.at) == ("g", False, {}, 1)
    assert row.parts is not made.Row(group_id="g", at=1).parts
    assert made.Row(group_id="g", at=1, parts={"a": [1]}).parts == {"a": [1]}
    with pytest.raises(TypeError, match="group_id"):
        made.Row(at=1)
    assert written.count("def __init__") == 2


def test_every_other_line_keeps_its_number() -> None:
    written = with_constructors({"m.py": MODULE})["m.py"]
    lines = zip(MODULE.split("\n"), written.split("\n"), strict=False)
    changed = [before for before, after in lines if before != after]
    assert changed == ["from typing import ClassVar", "", ""]
    for path, text in _written().items():
        added = len(text.split("\n")) - len(SOURCES[path].split("\n"))
        assert added == (text != SOURCES[path]), path  # where a class ends the file


def _parameters(of: Any) -> list[tuple[str, Any, bool]]:
    found = list(inspect.signature(of).parameters.values())
    return [(p.name, p.kind, p.default is p.empty) for p in found if p.name != "self"]


@pytest.mark.interpreted
def test_constructors_of_the_core_take_what_its_classes_take() -> None:
    compared = 0
    for path, text in _written().items():
        if text == SOURCES[path]:
            continue
        module = import_module(f"groupreplay.{path[:-3].replace('/', '.')}")
        for name, cls in vars(_module(text)).items():
            if (
                isinstance(cls, type)
                and dataclasses.is_dataclass(cls)
                and cls.__module__ == "made_of_source"
            ):
                known = getattr(module, name)
                assert _parameters(cls) == _parameters(known), name
                compared += 1
    assert compared > 90


def test_annotations_are_those_of_the_source() -> None:
    found = annotations_of(MODULE)
    assert found["Base"] == {"KIND": "ClassVar[str]", "group_id": "str", "is_final": "bool"}
    assert found["Row"] == {"parts": "dict[str, list[int]]", "at": "int"}


@dataclasses.dataclass(slots=True)
class Kept:
    parts: dict[str, list[int]]
    at: int = 0


def _as_mypyc_makes_it() -> Any:
    """A class whose annotations are types alone, and whose ClassVar looks like a field."""
    members = {"__module__": __name__, "__qualname__": "Bare", "KIND": "bare", "at": 0}
    return type("Bare", (), members | {"__annotations__": {"KIND": str, "parts": dict, "at": int}})


def test_a_class_gets_its_annotations_back_while_its_module_is_made() -> None:
    of_bare = {"KIND": "ClassVar[str]", "parts": "dict[str, list[int]]", "at": "int"}
    before = dataclasses.dataclass
    with annotated({__name__: {"Bare": of_bare}}):
        bare = dataclasses.dataclass(slots=True)(_as_mypyc_makes_it())
        other = dataclasses.dataclass(_other())
    assert dataclasses.dataclass is before
    assert [each.name for each in dataclasses.fields(bare)] == ["parts", "at"]
    assert get_type_hints(bare) == {"KIND": ClassVar[str], **get_type_hints(Kept)}
    assert get_type_hints(other) == {"at": int}
    globals()["Bare"] = bare
    try:
        value = bare({"a": [1]}, 2)
        copied = copy.copy(value)
        assert copied == value
        assert copied.parts is value.parts
        assert pickle.loads(pickle.dumps(value)) == value
    finally:
        del globals()["Bare"]


def _other() -> Any:
    return type("Other", (), {"__module__": __name__, "__annotations__": {"at": int}, "at": 0})


SPREAD = '''
from dataclasses import dataclass


@dataclass
class Owner:
    name: str
    place_id: int

    @property
    def place(self) -> dict[str, object]:
        """Whose it is."""
        return {"group_id": self.name, "incarnation": self.place_id}

    @property
    def told(self) -> dict[str, object]:
        return {"told": [self.name]}


def row(**fields: object) -> dict[str, object]:
    return fields


def made(owner: Owner, owners: list[Owner]) -> list[dict[str, object]]:
    return [
        row(**owner.place, at=1),
        row(a="é", **owner.place, at=2), row(**owner.told),
        row(**owners[0].place),
    ]
'''


def test_a_dict_of_fields_is_passed_by_its_fields() -> None:
    written = with_fields_passed({"m.py": SPREAD})["m.py"]
    assert "row(group_id=owner.name, incarnation=owner.place_id, at=1)" in written
    assert 'row(a="é", group_id=owner.name, incarnation=owner.place_id, at=2)' in written
    assert "row(**owner.told)" in written  # more than a field
    assert "row(**owners[0].place)" in written  # would be asked for twice
    assert len(written.split("\n")) == len(SPREAD.split("\n"))
    before, after = _module(SPREAD), _module(written)
    owner = ("g", 3)
    told = [each.made(each.Owner(*owner), [each.Owner(*owner)]) for each in (before, after)]
    assert told[0] == told[1]


def test_a_name_that_two_classes_have_is_left() -> None:
    other = "class Other:\n    def place(self) -> None: ...\n"
    sources = {"m.py": SPREAD, "other.py": other}
    assert with_fields_passed(sources) == sources


def test_every_fact_of_the_core_is_made_by_its_fields() -> None:
    spread = re.compile(r"\*\*[\w.]+\.(place|client)\b")
    passed = with_fields_passed(SOURCES)
    assert sum(len(spread.findall(text)) for text in SOURCES.values()) > 30
    assert [path for path, text in passed.items() if spread.search(text)] == []


POST = """
from dataclasses import dataclass, field


@dataclass
class Sum:
    parts: list[int]
    total: int = field(init=False)

    def __post_init__(self) -> None:
        self.total = sum(self.parts)

"""


def test_what_is_set_later_is_set_by_the_constructor_that_is_written_down() -> None:
    written = with_constructors({"m.py": POST})["m.py"]
    assert "def __init__(self, parts: list[int]) -> None: self.parts = parts" in written
    assert _module(written).Sum([1, 2]).total == 3
