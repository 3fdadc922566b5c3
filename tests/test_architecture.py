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
TESTS = sorted((ROOT / "tests").rglob("*.py"))

FUNCTION_LINES = 70
MODULE_LINES = 400
JOB_LINES = 80

LONGER_MODULES = {
    # Tables of data, a line or a few for each entry.
    "wire/records/layouts.py": 500,
    "wire/text/server_templates.py": 500,
    # One class with all of its fields, each explained.
    "replay/life.py": 480,
}
"""Modules that may be longer, and how long."""
LONGER_TESTS = {
    # Tables of mutations: a few lines for each, one for each finding of a rule.
    "support/broken_logs.py": 450,
    "support/broken_streams_logs.py": 480,
    # All of its tests compare with one night, which a second module would run again.
    "end_to_end/test_nights.py": 460,
    # One format of files: what is in them, and who reads them.
    "simulator/truth.py": 450,
    # One row a table: how facts of the replay are compared with the truth.
    "simulator/tables.py": 450,
}
"""Modules of tests that may be longer, and how long."""

LONGER_TEST_FUNCTIONS = {
    # One story of several nights, each of which goes on from the one before.
    "test_a_topic_of_another_id_begins_logs_of_its_own": 90,
    # One value, field by field.
    "small_night": 120,
    "_streams_found": 80,
}
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


def _long_functions(text: str) -> dict[str, int]:
    return {
        function.name: _length(function)
        for function in _functions(ast.parse(text))
        if _length(function) > FUNCTION_LINES
    }


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
    assert _long_functions(text) == {}, f"functions of more than {FUNCTION_LINES} lines"


@pytest.mark.parametrize("path", TESTS, ids=_name)
def test_functions_and_modules_of_tests_fit(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    most = LONGER_TESTS.get(path.relative_to(ROOT / "tests").as_posix(), MODULE_LINES)
    assert len(text.splitlines()) <= most
    assert {
        name: lines
        for name, lines in _long_functions(text).items()
        if lines > LONGER_TEST_FUNCTIONS.get(name, 0)
    } == {}, f"functions of more than {FUNCTION_LINES} lines"


def test_what_may_be_longer_exists_and_is() -> None:
    modules = {path.relative_to(LIBRARY).as_posix(): path for path in MODULES}
    tests = {path.relative_to(ROOT / "tests").as_posix(): path for path in TESTS}
    for named, paths in ((LONGER_MODULES, modules), (LONGER_TESTS, tests)):
        for name in named:
            assert len(paths[name].read_text(encoding="utf-8").splitlines()) > MODULE_LINES, name
    long = {name for path in TESTS for name in _long_functions(path.read_text(encoding="utf-8"))}
    assert long == LONGER_TEST_FUNCTIONS.keys()


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
