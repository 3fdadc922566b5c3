"""What the house rules say and a linter does not: sizes, names, and who may use what. Read off the
code, so that it holds for the next file too.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LIBRARY = ROOT / "lib" / "groupreplay"
MODULES = sorted(LIBRARY.rglob("*.py"))
ROOMS = sorted(path.name for path in LIBRARY.iterdir() if (path / "__init__.py").exists())
JOBS = sorted((ROOT / "jobs").glob("*.py"))

FUNCTION_LINES = 70
MODULE_LINES = 400
JOB_LINES = 80

LONGER_MODULES = {
    # Tables of data, a line or a few for each entry.
    "wire/records/layouts.py": 500,
    "wire/text/server_templates.py": 500,
    # One class with all of its fields, each explained; and the one that all changes go through.
    "replay/life.py": 480,
    "replay/assignment/membership.py": 500,
}
"""Modules that may be longer, and how long."""
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "manager", "common", "misc", "base"}

WHOLE_ROOM_TESTS = {
    # What a room does as a whole: recordings, scenarios, cuts, all its tables.
    "evidence/test_recordings.py",
    "page/test_browser.py",
    "replay/test_cuts.py",
    "replay/test_kept_states.py",
    "replay/test_scenarios.py",
    "replay/test_worked_example.py",
    "report/tables/test_evidence.py",
    "report/tables/test_sources.py",
    "report/tables/test_tables.py",
    "wire/test_recordings.py",
    "wire/test_scenarios.py",
    "wire/test_simulated_logs.py",
}
"""Tests in a room of the library that are named for no module of it."""

PURE = (
    "records",
    "wire",
    "state_codec.py",
    "replay",
    "evidence",
    "page",
    "errors.py",
    "limits.py",
)
"""These import the standard library and each other alone."""

BANNED_CALLS = {
    # call: (where it may stand, why nowhere else)
    "current_timestamp": ((), "a run's output must not depend on the wall clock"),
    "current_date": ((), "a run's output must not depend on the wall clock"),
    "monotonically_increasing_id": ((), "it depends on the number of tasks"),
    "rand": ((), "it is not the same twice"),
    "uuid4": (("tables",), "names of runs and probe files alone may differ"),
    "saveAsTable": ((), "tables are written by path, in tables/warehouse.py"),
    "toPandas": ((), "nothing but top rows is ever collected"),
}


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from def to end, without the docstring."""
    first = function.body[0]
    documented = (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    )
    docstring = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
    return (function.end_lineno or 0) - function.lineno + 1 - docstring


def _imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("path", [*MODULES, *JOBS], ids=_name)
def test_functions_and_modules_fit(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    most = JOB_LINES if path.parent.name == "jobs" else MODULE_LINES
    if LIBRARY in path.parents:
        most = LONGER_MODULES.get(path.relative_to(LIBRARY).as_posix(), most)
    assert len(lines) <= most
    long = {
        function.name: _length(function)
        for function in _functions(ast.parse(text))
        if _length(function) > FUNCTION_LINES
    }
    assert not long, f"functions of more than {FUNCTION_LINES} lines"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_modules_are_named_and_described(path: Path) -> None:
    assert path.stem not in VAGUE_NAMES
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree) or not tree.body, "a module says at its top what it is for"


@pytest.mark.parametrize(
    "path", [path for path in MODULES if path.relative_to(LIBRARY).parts[0] in PURE], ids=_name
)
def test_pure_modules_import_the_standard_library_alone(path: Path) -> None:
    allowed = {*sys.stdlib_module_names, "groupreplay"}
    assert {
        name.partition(".")[0] for name in _imports(ast.parse(path.read_text(encoding="utf-8")))
    } <= allowed


@pytest.mark.parametrize(
    "path",
    sorted(path for room in ROOMS for path in (ROOT / "tests" / room).rglob("test_*.py")),
    ids=_name,
)
def test_tests_lie_where_their_module_does(path: Path) -> None:
    """`a/b.py` is tested by `tests/a/test_b.py`, and by `tests/a/test_b_<aspect>.py`."""
    place = path.relative_to(ROOT / "tests")
    tested = path.stem.removeprefix("test_")
    modules = {module.stem for module in (LIBRARY / place.parent).glob("*.py")}
    assert place.as_posix() in WHOLE_ROOM_TESTS or any(
        f"{tested}_".startswith(f"{module}_") for module in modules
    )


def test_whole_room_tests_exist() -> None:
    assert [name for name in WHOLE_ROOM_TESTS if not (ROOT / "tests" / name).exists()] == []


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_banned_calls_stand_nowhere(path: Path) -> None:
    room = path.relative_to(LIBRARY).parts[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            name = (
                node.func.attr
                if isinstance(node.func, ast.Attribute)
                else getattr(node.func, "id", "")
            )
            rooms, why = BANNED_CALLS.get(name, ((room,), ""))
            assert room in rooms, f"line {node.lineno}: {name}: {why}"


@pytest.mark.parametrize(
    "path", [path for path in MODULES if path.relative_to(LIBRARY).parts[0] in PURE], ids=_name
)
def test_machines_know_no_clock_no_chance_and_no_log(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not {"time", "random", "logging", "uuid", "os"} & set(_imports(tree))
    asks = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not [name for name in asks if re.search(r"\bdate(time)?\.(now|utcnow|today)$", name)]


@pytest.mark.parametrize("path", [*MODULES, *JOBS], ids=_name)
def test_storage_and_who_asks_a_cluster_alone_reach_into_the_jvm(path: Path) -> None:
    names = {
        node.attr
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }
    if LIBRARY / "tables" not in path.parents and path != LIBRARY / "sources/kafka_admin.py":
        assert not names & {"_jvm", "_jsc", "_jsparkSession", "_gateway"}


@pytest.mark.parametrize("path", sorted((LIBRARY / "night/frames").glob("*.py")), ids=_name)
def test_frames_start_no_job_of_spark(path: Path) -> None:
    names = {
        node.func.attr
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    acts = {"collect", "isEmpty", "take", "head", "first", "save", "persist", "toLocalIterator"}
    assert not names & acts


@pytest.mark.parametrize("path", JOBS, ids=_name)
def test_jobs_stand_alone(path: Path) -> None:
    others = {other.stem for other in JOBS}
    assert not others & {
        name.partition(".")[0] for name in _imports(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert path.stem not in sys.stdlib_module_names
    assert len(path.stem.split("_")) >= 2, "a job is called verb_noun"


def test_packages_are_found_by_setup() -> None:
    for folder in {path.parent for path in MODULES}:
        assert (folder / "__init__.py").exists(), folder


def test_pins_of_delta_agree() -> None:
    setup = (ROOT / "setup.py").read_text(encoding="utf-8")
    version = setup.partition('"delta-spark==')[2].partition('"')[0]
    jars = [
        line.split()[1]
        for line in (ROOT / "conf/jars.sha256").read_text(encoding="utf-8").splitlines()
    ]
    assert jars == [f"delta-spark_4.1_2.13-{version}.jar", f"delta-storage-{version}.jar"]
    assert f"delta_spark=={version}" in (ROOT / "constraints.txt").read_text(encoding="utf-8")


def test_pins_of_kafka_agree() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    jars = [
        line.split()[1]
        for line in (ROOT / "conf/kafka-jars.sha256").read_text(encoding="utf-8").splitlines()
    ]
    for artifact in re.findall(
        r"^KAFKA_\w+ := org\.apache\.spark:(\S+):(\S+)$", makefile, re.MULTILINE
    ):
        assert "-".join(artifact) + ".jar" in jars
    assert len(jars) == 4


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
        if place != "saved_life.py":  # states of earlier releases, before they are a life
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
                writers.setdefault(name, set()).add(_name(path))
    several = {name: found for name, found in writers.items() if len(found) > classes.get(name, 99)}
    assert not several, several
    assert len(writers.keys() & classes.keys()) > 50


def _is_field(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
