"""`make setup` compiles the core where it can, says in one line how that went, and never fails by it.

A package of two modules stands in for the core: it compiles in seconds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import compile_core

ROOT = Path(__file__).parent.parent
AS_IT_IS = "; everything works as it is, only slower"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("compile_core.py", "compile_dataclasses.py"):
        shutil.copy(ROOT / name, tmp_path / name)
    package = tmp_path / "lib/groupreplay"
    package.mkdir(parents=True)
    for name in ("__init__.py", "compiled_core.py", "compiled_data.py", "limits.py"):
        shutil.copy(ROOT / "lib/groupreplay" / name, package / name)
    (package / "state_codec.py").write_text(
        "def twice(number: int) -> int:\n    return 2 * number\n", encoding="utf-8"
    )
    return tmp_path


def _set_up(checkout: Path, at_most_s: float = 100, **variables: str) -> list[str]:
    """The lines that it says. Fails where it does not end with 0, or complains."""
    runs = f"import compile_core as c, sys; c.SETUP_S = {at_most_s}; sys.exit(c.main(['--setup']))"
    environment = {**os.environ, "GROUPREPLAY_COMPILED": "", "PYTHONPATH": str(checkout)}
    done = subprocess.run(
        [sys.executable, "-c", runs],
        cwd=checkout,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def _running(checkout: Path) -> str:
    asks = "from groupreplay import compiled_core as c, state_codec as s; assert s.twice(2) == 4; print(c.running())"
    environment = {"PYTHONPATH": str(checkout / "lib")}
    done = subprocess.run(
        [sys.executable, "-c", asks], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_without_a_compiler_one_line_says_what_is_missing(checkout: Path) -> None:
    said = _set_up(checkout, CC="no-such-compiler -O1")
    assert said == [f"not compiled: the C compiler no-such-compiler is not there{AS_IT_IS}"]
    said = _set_up(checkout, CC="", PATH=str(checkout))
    assert len(said) == 1
    assert said[0].startswith("not compiled: the C compiler ")
    assert _running(checkout) == "interpreted: no compiled core is here"


def test_without_headers_one_line_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CC", sys.executable)
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    assert compile_core.missing().startswith(f"Python's headers are not there ({tmp_path}/Python.h")


@pytest.mark.long
def test_it_compiles_once_and_again_when_a_source_changes(checkout: Path) -> None:
    if compile_core.missing():
        pytest.skip(compile_core.missing())
    (said,) = _set_up(checkout)
    assert said.startswith("compiling the pure core, for at most 100 s: done in ")
    first = _running(checkout)
    assert first.startswith("compiled: ")
    assert _set_up(checkout) == []
    with (checkout / "lib/groupreplay/limits.py").open("a") as out:
        out.write("# one line more\n")
    stale = first.removeprefix("compiled: ")
    assert _running(checkout) == f"interpreted: {stale} was made of other sources"
    (said,) = _set_up(checkout)
    assert " done in " in said
    assert _running(checkout).startswith("compiled: ")
    assert _running(checkout) != first


@pytest.mark.long
def test_a_compile_that_fails_is_one_line_and_is_not_tried_again(checkout: Path) -> None:
    if compile_core.missing():
        pytest.skip(compile_core.missing())
    failed = "it failed, .cache/compile.log says why"
    begins = "compiling the pure core, for at most 100 s: "
    assert _set_up(checkout, CC="false") == [f"{begins}{failed}{AS_IT_IS}"]
    assert "false" in (checkout / ".cache/compile.log").read_text(encoding="utf-8")
    assert _set_up(checkout) == [f"not compiled: {failed}; make compiled tries again"]
    assert _running(checkout) == "interpreted: no compiled core is here"


def test_a_compile_that_takes_too_long_is_ended(checkout: Path) -> None:
    if compile_core.missing():
        pytest.skip(compile_core.missing())
    said = _set_up(checkout, at_most_s=0.3)
    begins = "compiling the pure core, for at most 0 s: it takes longer than 0 s"
    assert said == [f"{begins}{AS_IT_IS}"]
    assert list((checkout / ".cache").glob("compiled/.making-*")) == []


def test_make_setup_does_that() -> None:
    outside = {name: each for name, each in os.environ.items() if not name.startswith("MAKE")}
    told = subprocess.run(
        ["make", "--dry-run", "setup"],
        cwd=ROOT,
        env=outside,
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.splitlines()[-1].endswith("compile_core.py --setup")
