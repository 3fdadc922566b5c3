"""Tests mirror the folders: a module's tests are found by its name. What only larger tests hold is
named by them, in a line of their docstring:

    Holds replay/machine.py, replay/protocols/consumer.py.

Paths are below lib/groupreplay. A docstring may have several such lines.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LIBRARY = ROOT / "lib" / "groupreplay"
MODULES = sorted(LIBRARY.rglob("*.py"))
ROOMS = sorted(path.name for path in LIBRARY.iterdir() if (path / "__init__.py").exists())
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))

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

_PATH = r"(?:[a-z0-9_]+/)*[a-z0-9_]+\.py"
_HOLDS = re.compile(rf"^Holds ({_PATH}(?:, {_PATH})*)\.$")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def is_data_alone(module: ast.Module) -> bool:
    """Whether it has nothing but declarations: no function, and so nothing that could be wrong in
    a way that types do not show.
    """
    bodies = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    return not any(isinstance(node, bodies) for node in ast.walk(module))


def held_by(docstring: str | None) -> list[str]:
    """The modules that a docstring says a test holds. Raises AssertionError for a line that begins
    like one and is none.
    """
    held: list[str] = []
    for line in (docstring or "").splitlines():
        found = _HOLDS.match(line)
        assert found or not re.match(r"Holds \S*/\S*\.py", line), f"not of the form: {line}"
        held += found[1].split(", ") if found else []
    return held


def own_tests(module: Path) -> list[Path]:
    """Tests of its name in the mirrored folder: `test_b.py`, and `test_b_<aspect>.py` where no
    other module has a name that is nearer.
    """
    folder = ROOT / "tests" / module.relative_to(LIBRARY).parent
    siblings = [path.stem for path in module.parent.glob("*.py")]
    found = []
    for path in folder.glob(f"test_{module.stem}*.py"):
        tested = f"{path.stem.removeprefix('test_')}_"
        names = [name for name in siblings if tested.startswith(f"{name}_")]
        if names and max(names, key=len) == module.stem:
            found.append(path)
    return found


@cache
def _holders() -> dict[str, list[Path]]:
    """Module -> the tests that say that they hold it."""
    found: dict[str, list[Path]] = {}
    for path in TESTS:
        if "\nHolds " not in path.read_text(encoding="utf-8"):
            continue
        for module in held_by(ast.get_docstring(_tree(path))):
            found.setdefault(module, []).append(path)
    return found


@pytest.mark.parametrize("folder", sorted({path.parent for path in MODULES}), ids=_name)
def test_the_tests_of_a_module_are_found_by_its_name(folder: Path) -> None:
    untested = [
        path.relative_to(LIBRARY).as_posix()
        for path in sorted(folder.glob("*.py"))
        if not (own_tests(path) or is_data_alone(_tree(path)))
    ]
    assert [name for name in untested if name not in _holders()] == [], (
        "they have no tests of their names, and no test says that it holds them"
    )


def test_tests_hold_modules_that_are_there_and_have_none_of_their_name() -> None:
    modules = {path.relative_to(LIBRARY).as_posix(): path for path in MODULES}
    for name, holders in _holders().items():
        where = ", ".join(map(_name, holders))
        assert name in modules, f"{where}: there is no {name}"
        assert not own_tests(modules[name]), f"{where}: {name} has tests of its name"


def test_what_counts_as_data_and_as_a_line_is_told_apart() -> None:
    data = "from dataclasses import dataclass\n@dataclass\nclass A:\n    b: int = 1\nC = A(2)"
    assert is_data_alone(ast.parse(data))
    for logic in ("def f(): ...", "class A:\n    async def f(self): ...", "F = lambda: 1"):
        assert not is_data_alone(ast.parse(logic))
    said = "What it shows.\n\nHolds a/b.py, c.py.\nHolds d_1/e.py.\nHolds of all pages."
    assert held_by(said) == ["a/b.py", "c.py", "d_1/e.py"]
    for wrong in ("Holds a/b.py", "Holds a/b.py and c/d.py.", "Holds a/b.py, c/d."):
        with pytest.raises(AssertionError, match="not of the form"):
            held_by(wrong)


@pytest.mark.parametrize(
    "folder",
    sorted({path.parent for room in ROOMS for path in (ROOT / "tests" / room).rglob("test_*.py")}),
    ids=_name,
)
def test_tests_lie_where_their_module_does(folder: Path) -> None:
    """`a/b.py` is tested by `tests/a/test_b.py`, and by `tests/a/test_b_<aspect>.py`."""
    room = folder.relative_to(ROOT / "tests")
    modules = {module.stem for module in (LIBRARY / room).glob("*.py")}
    for path in folder.glob("test_*.py"):
        tested = path.stem.removeprefix("test_")
        assert (room / path.name).as_posix() in WHOLE_ROOM_TESTS or any(
            f"{tested}_".startswith(f"{module}_") for module in modules
        ), path


def test_whole_room_tests_exist() -> None:
    assert [name for name in WHOLE_ROOM_TESTS if not (ROOT / "tests" / name).exists()] == []
