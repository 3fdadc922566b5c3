"""Who writes a field of a life or a member: one module each. Read off the code of `replay`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
LIBRARY = ROOT / "lib" / "groupreplay"


def _assigned(tree: ast.AST) -> Iterator[str]:
    """Names of attributes that are assigned to, but for those of `self`."""
    for node in ast.walk(tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = list(node.targets)
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        while targets:
            target = targets.pop()
            if isinstance(target, ast.Tuple | ast.List):
                targets += target.elts
            elif isinstance(target, ast.Attribute) and ast.unparse(target.value) != "self":
                yield target.attr


MUTATORS = {
    *("add", "append", "clear", "discard", "extend", "insert", "pop", "popitem", "remove"),
    *("setdefault", "sort", "update"),
}


PROTOCOLS_WRITE = {
    # field of a life: the protocol that alone knows it, by records of its own
    "Life.protocol_type": "classic.py",
    "Life.protocol_name": "classic.py",
    "Life.deleted_topics": "consumer.py",
    "Life.resolved_topics": "consumer.py",
    "Life.stamps_assignments": "consumer.py",
    "Life.upgraded_at": "consumer_groups.py",
    "Life.unbumped": "consumer_groups.py",
    "Life.downgraded_at": "conversion.py",
    "Life.downgrade_offset": "conversion.py",
    "Life.conversions": "conversion.py",
    "Life.last_direction": "conversion.py",
}


SHARED_FIELDS = {
    # field: its writers, where they are several
    "Life.members": {"assignment/members.py", "protocols/hidden_lives.py"},
    "Life.stops": {"assignment/owners.py", "decisions/transitions.py"},
    "Member.taken": {"assignment/owners.py", "assignment/targets.py"},
}


ONE_WRITER = {"assignment/partition_owners.py": "assignment/owners.py"}
"""A class and the one that it derives from."""


def _written(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(object, field) of what is assigned, deleted, or changed in place. What a local variable
    stands for is not followed.
    """
    for node in ast.walk(tree):
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign | ast.Delete):
            targets = list(node.targets)
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            targets = [node.target]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            targets = [node.func.value] if node.func.attr in MUTATORS else []
        while targets:
            target = targets.pop()
            if isinstance(target, ast.Tuple | ast.List):
                targets += target.elts
            elif isinstance(target, ast.Subscript):
                targets.append(target.value)
            elif isinstance(target, ast.Attribute):
                yield ast.unparse(target.value).rpartition(".")[2].lstrip("_"), target.attr


def test_who_writes_a_field_of_a_life_or_a_member_is_known() -> None:
    """Assigned, deleted or changed in place: by one module, but for SHARED_FIELDS; and by protocols
    only what PROTOCOLS_WRITE names. In `replay` a life is called life and a member member.
    """
    replay = LIBRARY / "replay"
    fields = {
        f"{node.name}.{each.target.id}"  # type: ignore[attr-defined]
        for node in ast.walk(ast.parse((replay / "life.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and node.name in ("Life", "Member")
        for each in node.body
        if _is_field(each)
    }
    writers: dict[str, set[str]] = {}
    for path in sorted(replay.rglob("*.py")):
        place = path.relative_to(replay).as_posix()
        if place != "saved/saved_life.py":  # states of earlier releases, before they are a life
            for name, field in _written(ast.parse(path.read_text(encoding="utf-8"))):
                if f"{name.capitalize()}.{field}" in fields:
                    found = writers.setdefault(f"{name.capitalize()}.{field}", set())
                    found.add(ONE_WRITER.get(place, place))
    several = {field: found for field, found in writers.items() if len(found) > 1}
    assert several == SHARED_FIELDS
    protocols = {
        field: place.removeprefix("protocols/")
        for field, found in writers.items()
        for place in found
        if place.startswith("protocols/") and field not in SHARED_FIELDS
    }
    assert protocols == PROTOCOLS_WRITE
    assert len(writers) > 70


def test_a_field_of_a_life_or_a_member_has_one_writer() -> None:
    """Who asks why a field has its value has one module to read. States that are restored apart."""
    replay, classes = LIBRARY / "replay", dict[str, int]()
    for path in (replay / "life.py", replay / "change.py", replay / "kept" / "streams_tasks.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name not in ("Ending", "Moment"):
                for field in {s.target.id for s in node.body if _is_field(s)}:  # type: ignore[attr-defined]
                    classes[field] = classes.get(field, 0) + 1
    writers: dict[str, set[str]] = {}
    for path in sorted(replay.rglob("*.py")):
        if path.name != "saved_life.py":
            for name in _assigned(ast.parse(path.read_text(encoding="utf-8"))):
                writers.setdefault(name, set()).add(path.relative_to(replay).as_posix())
    several = {name: found for name, found in writers.items() if len(found) > classes.get(name, 99)}
    assert not several, several
    assert len(writers.keys() & classes.keys()) > 50


def _is_field(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
