"""The compiled core and the interpreted one are one: the same digests; and a core that does not fit
is never loaded.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from zipfile import ZipFile

import pytest

import compile_core
from groupreplay import compiled_core
from groupreplay.compiled_core import CONTENTS, core_name, digest_of, fits

ROOT = Path(__file__).parent.parent
LIB = ROOT / "lib"
SOURCES = ("limits.py", "state_codec.py")


def _text(path: str) -> bytes:
    return (LIB / "groupreplay" / path).read_bytes()


def _run(compiled: str, *arguments: str, library: Path = LIB) -> str:
    environment = {
        **os.environ,
        "GROUPREPLAY_COMPILED": compiled,
        "PYTHONPATH": os.pathsep.join([str(library), str(ROOT)]),
        "PYTHONHASHSEED": "0",
    }
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="session")
def core() -> Path:
    """The compiled core of these sources."""
    sources = compile_core.files_of(*compile_core.CORE)
    place = compile_core.CORES / core_name(digest_of((path, _text(path)) for path in sources))
    if not (place / CONTENTS).exists():
        pytest.skip(f"no compiled core: {compile_core.missing() or 'run make compiled'}")
    return place


def test_no_loop_sets_what_its_range_is_made_of() -> None:
    """Compiled by mypyc 2.4, such a loop reads it again at each step, and ends early or late."""
    found = [
        f"{path}:{loop.lineno}"
        for path in compile_core.files_of(*compile_core.CORE)
        for loop in ast.walk(ast.parse(_text(path)))
        if isinstance(loop, ast.For) and _range_names(loop) & _set_names(loop)
    ]
    assert not found


def _range_names(loop: ast.For) -> set[str]:
    """Names that the range of a loop is made of; none where it is over anything else."""
    of = loop.iter
    is_range = isinstance(of, ast.Call) and isinstance(of.func, ast.Name) and of.func.id == "range"
    return {each.id for each in ast.walk(of) if isinstance(each, ast.Name)} if is_range else set()


def _set_names(loop: ast.For) -> set[str]:
    """Names that the body of a loop sets."""
    names = (each for line in loop.body for each in ast.walk(line) if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, ast.Store)}


@pytest.mark.long
def test_both_cores_make_the_same_of_every_recording(core: Path) -> None:
    interpreted, compiled = (
        json.loads(_run(each, "-m", "tests.support.core_digests")) for each in ("0", "1")
    )
    assert interpreted["core"] == "interpreted: GROUPREPLAY_COMPILED=0"
    assert compiled["core"] == f"compiled: {core.name}"
    assert len(interpreted["digests"]) >= 3 * 13
    assert compiled["digests"] == interpreted["digests"]


@pytest.mark.interpreted
def test_a_core_is_loaded_where_sources_and_python_are_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = digest_of((path, _text(path)) for path in SOURCES)
    for name, written, why in (
        (f"{digest[:16]}-cpython-39-plan9-vax", digest, "is for another Python or machine"),
        (core_name(digest), "0" * 64, "was made of other sources"),
        (core_name(digest), digest, "cannot be loaded: "),
    ):
        place = tmp_path / name
        place.mkdir(exist_ok=True)
        contents = {"sources": SOURCES, "digest": written, "modules": ["groupreplay.limits"]}
        (place / CONTENTS).write_text(json.dumps(contents), encoding="utf-8")
        monkeypatch.setenv(compiled_core.VARIABLE, str(tmp_path))
        assert place in list(compiled_core._places())
        assert compiled_core._load(place).startswith(why)
        assert not [each for each in sys.meta_path if isinstance(each, compiled_core._Core)]


def test_the_suite_runs_the_core_that_it_was_asked_for() -> None:
    asked = os.environ[compiled_core.VARIABLE] != "0"
    assert compiled_core.running().startswith("compiled") is asked, compiled_core.running()


def test_who_asks_from_a_bundle_gets_the_digest_of_the_same_sources(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.zip"
    with ZipFile(bundle, "w") as out:
        for path in ("__init__.py", "compiled_core.py", "compiled_data.py", *SOURCES):
            out.write(LIB / "groupreplay" / path, f"groupreplay/{path}")
    asks = (
        "from groupreplay import compiled_core as c; print(c.__file__,"
        f" c.digest_of(c._sources({SOURCES})))"
    )
    said = _run("0", "-c", asks, library=bundle).split()
    assert said[0].startswith(str(bundle))
    assert said[1] == digest_of((path, _text(path)) for path in SOURCES)


def test_where_no_core_fits_the_sources_run(tmp_path: Path) -> None:
    """Of several that were left by earlier sources, the newest is named."""
    stale = {"sources": SOURCES, "digest": "0" * 64, "modules": {}}
    for name, contents in (
        ("0123-cpython-39-plan9-vax", {}),
        (core_name("1" * 16), stale),
        (core_name("2" * 16), stale),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / CONTENTS).write_text(json.dumps(contents), encoding="utf-8")
        age = int(name[:4])
        os.utime(tmp_path / name, (age, age))
    cut_off = tmp_path / "library"  # far from the cores of this checkout
    (cut_off / "lib").mkdir(parents=True)
    (cut_off / "lib/groupreplay").symlink_to(LIB / "groupreplay")
    asks = "import groupreplay.limits as m; from groupreplay import compiled_core as c; print(m.__file__, c.running(), c.passed_over())"
    said = _run(str(tmp_path), "-c", asks, library=cut_off / "lib")
    assert f"limits.py interpreted: {core_name('2' * 16)} was made of other sources; 0123-" in said
    assert "0123-cpython-39-plan9-vax is for another Python" in said
    assert core_name("1" * 16) not in said
    assert said.endswith(" True\n")
    said = _run("0", "-c", asks, library=cut_off / "lib")
    assert said.endswith("interpreted: GROUPREPLAY_COMPILED=0 False\n")


@pytest.mark.whole
def test_the_core_of_a_wheel_loads_where_nothing_else_is_installed(
    core: Path, tmp_path: Path
) -> None:
    compile_core.pack_wheel(core, tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    assert sysconfig.get_platform().replace("-", "_").replace(".", "_") in wheel.name
    python = tmp_path / "empty/bin/python"
    install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    for command in (
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "empty")],
        [sys.executable, "-m", "pip", "--python", str(python), *install],
    ):
        subprocess.run(command, check=True)
    asks = "import groupreplay.replay.group_replay as m; from groupreplay.compiled_core import running; print(running(), type(m.GroupReplay.replay).__name__)"
    said = subprocess.run(
        [python, "-I", "-c", asks],
        cwd=tmp_path,
        env={},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said == f"compiled: {core.name} method_descriptor\n"


def test_what_is_compiled_is_named_by_abi_and_platform() -> None:
    assert f"cpython-{sys.version_info.major}{sys.version_info.minor}" in fits()
    assert core_name("f" * 64) == f"{'f' * 16}-{fits()}"
