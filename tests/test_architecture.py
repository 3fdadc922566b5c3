"""What the house rules say and a linter does not: sizes, names, and who may use what. Read off the
code, so that it holds for the next file too.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LIBRARY = ROOT / "lib" / "groupreplay"
MODULES = sorted(LIBRARY.rglob("*.py"))
JOBS = sorted((ROOT / "jobs").glob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

FUNCTION_LINES = 70
MODULE_LINES = 400
JOB_LINES = 80
FOLDER_MODULES = 16
"""About fifteen, beside `__init__`: so many names a reader can hold."""
TABLES_FOLDER = "report/tables"
"""One module a table, whatever their number."""

LONGER_MODULES = {
    # Tables of data, a line or a few for each entry.
    "wire/records/layouts.py": 500,
    "wire/text/server_templates.py": 500,
    # One class with all of its fields, each explained.
    "replay/life.py": 500,
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


def _name(folder: Path) -> str:
    return str(folder.relative_to(ROOT))


def _folders(paths: Iterable[Path]) -> list[Path]:
    return sorted({path.parent for path in paths})


def _modules(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.py"))


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(_text(path))


@cache
def _nodes(path: Path) -> list[ast.AST]:
    return [*ast.walk(_tree(path))]


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in _nodes(path):
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


@cache
def _long_functions(path: Path) -> dict[str, int]:
    return {
        function.name: _length(function)
        for function in _functions(path)
        if _length(function) > FUNCTION_LINES
    }


def _lines(path: Path) -> int:
    return len(_text(path).splitlines())


def _imports(path: Path) -> Iterator[str]:
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def _attributes(path: Path) -> Iterator[ast.Attribute]:
    return (node for node in _nodes(path) if isinstance(node, ast.Attribute))


@pytest.mark.parametrize("folder", _folders([*MODULES, *JOBS]), ids=_name)
def test_functions_and_modules_fit(folder: Path) -> None:
    most = JOB_LINES if folder.name == "jobs" else MODULE_LINES
    for path in _modules(folder):
        name = path.relative_to(LIBRARY).as_posix() if LIBRARY in path.parents else path.name
        assert _lines(path) <= LONGER_MODULES.get(name, most), path
        assert _long_functions(path) == {}, f"{path}: functions of more than {FUNCTION_LINES} lines"


@pytest.mark.parametrize("folder", _folders(TESTS), ids=_name)
def test_functions_and_modules_of_tests_fit(folder: Path) -> None:
    for path in _modules(folder):
        most = LONGER_TESTS.get(path.relative_to(ROOT / "tests").as_posix(), MODULE_LINES)
        assert _lines(path) <= most, path
        assert {
            name: lines
            for name, lines in _long_functions(path).items()
            if lines > LONGER_TEST_FUNCTIONS.get(name, 0)
        } == {}, f"{path}: functions of more than {FUNCTION_LINES} lines"


def test_folders_are_small_enough_to_be_known() -> None:
    sizes = {
        folder.relative_to(LIBRARY).as_posix(): len(_modules(folder)) - 1
        for folder in _folders(MODULES)
    }
    assert {
        name: size
        for name, size in sizes.items()
        if size > FOLDER_MODULES and name != TABLES_FOLDER
    } == {}
    specs = [path for path in _modules(LIBRARY / TABLES_FOLDER) if "\nSPEC" in _text(path)]
    assert len(specs) == sizes[TABLES_FOLDER], "each module there is a table"


def test_what_may_be_longer_exists_and_is() -> None:
    modules = {path.relative_to(LIBRARY).as_posix(): path for path in MODULES}
    tests = {path.relative_to(ROOT / "tests").as_posix(): path for path in TESTS}
    for named, paths in ((LONGER_MODULES, modules), (LONGER_TESTS, tests)):
        for name in named:
            assert _lines(paths[name]) > MODULE_LINES, name
    long = {name for path in TESTS for name in _long_functions(path)}
    assert long == LONGER_TEST_FUNCTIONS.keys()


@pytest.mark.parametrize("folder", _folders(MODULES), ids=_name)
def test_modules_are_named_and_described(folder: Path) -> None:
    for path in _modules(folder):
        assert path.stem not in VAGUE_NAMES, path
        documented = ast.get_docstring(_tree(path)) or not _tree(path).body
        assert documented, f"{path}: a module says at its top what it is for"


def _is_pure(path: Path) -> bool:
    return path.relative_to(LIBRARY).parts[0] in PURE


PURE_MODULES = [path for path in MODULES if _is_pure(path)]


@pytest.mark.parametrize("folder", _folders(PURE_MODULES), ids=_name)
def test_pure_modules_import_the_standard_library_alone(folder: Path) -> None:
    allowed = {*sys.stdlib_module_names, "groupreplay"}
    for path in filter(_is_pure, _modules(folder)):
        assert {name.partition(".")[0] for name in _imports(path)} <= allowed, path


@pytest.mark.parametrize("folder", _folders(MODULES), ids=_name)
def test_banned_calls_stand_nowhere(folder: Path) -> None:
    for path in _modules(folder):
        room = path.relative_to(LIBRARY).parts[0]
        for node in _nodes(path):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                rooms, why = BANNED_CALLS.get(name, ((room,), ""))
                assert room in rooms, f"{path}, line {node.lineno}: {name}: {why}"


@pytest.mark.parametrize("folder", _folders(PURE_MODULES), ids=_name)
def test_machines_know_no_clock_no_chance_and_no_log(folder: Path) -> None:
    now = re.compile(r"\bdate(time)?\.(now|utcnow|today)$")
    for path in filter(_is_pure, _modules(folder)):
        assert not {"time", "random", "logging", "uuid", "os"} & set(_imports(path)), path
        asked = [each for each in _attributes(path) if each.attr in ("now", "utcnow", "today")]
        assert not [each for each in asked if now.search(ast.unparse(each))], path


@pytest.mark.parametrize("folder", _folders([*MODULES, *JOBS]), ids=_name)
def test_storage_and_who_asks_a_cluster_alone_reach_into_the_jvm(folder: Path) -> None:
    for path in _modules(folder):
        if LIBRARY / "tables" not in path.parents and path != LIBRARY / "sources/kafka_admin.py":
            names = {each.attr for each in _attributes(path)}
            assert not names & {"_jvm", "_jsc", "_jsparkSession", "_gateway"}, path


ACTS = {"collect", "isEmpty", "take", "head", "first", "save", "persist", "toLocalIterator"}
"""Methods of a frame that start a job of Spark."""


def _acts(node: ast.AST) -> set[str]:
    called = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return ACTS & {each.attr for each in called if isinstance(each, ast.Attribute)}


def test_frames_start_no_job_of_spark() -> None:
    paths = _modules(LIBRARY / "night/frames")
    assert paths
    for path in paths:
        assert not _acts(_tree(path)), path


def test_properties_start_no_job_of_spark() -> None:
    properties = [
        (path, function)
        for path in MODULES
        for function in _functions(path)
        for each in function.decorator_list
        if ast.unparse(each).rpartition(".")[2] in ("property", "cached_property")
    ]
    assert len(properties) > 50
    assert [(path, each.name) for path, each in properties if _acts(each)] == []


def test_jobs_stand_alone() -> None:
    others = {other.stem for other in JOBS}
    for path in JOBS:
        assert not others & {name.partition(".")[0] for name in _imports(path)}, path
        assert path.stem not in sys.stdlib_module_names
        assert len(path.stem.split("_")) >= 2, f"{path}: a job is called verb_noun"


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
