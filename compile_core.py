"""Compiles the pure core by mypyc, from its own sources: `make setup` and `make compiled` run this.

It makes `.cache/compiled/NAME`, which `groupreplay.compiled_core` loads, and says what it did in
one line. Where a C compiler or Python's headers are missing, the line says so: then everything runs
as it is.

    python compile_core.py             compiles, unless that core is there
    python compile_core.py --setup     the same within three minutes; ends well whatever comes of it
    python compile_core.py --archive   also packs it for Spark's --archives, and a wheel, into dist/
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any, Final

from compile_dataclasses import annotations_of, with_constructors, with_fields_passed

ROOT: Final = Path(__file__).resolve().parent
LIB: Final = ROOT / "lib"
PACKAGE: Final = LIB / "groupreplay"
CORES: Final = ROOT / ".cache/compiled"
OBJECTS: Final = ROOT / ".cache/mypyc/objects"
STAGED: Final = ROOT / ".cache/mypyc/lib"
DIST: Final = ROOT / "dist"

CORE: Final = ("limits.py", "state_codec.py", "records", "wire", "replay", "evidence")
"""What is pure: its sources decide whether a compiled core is that of a package."""

OPTIMIZATION: Final = "2"
"""Two minutes and a quarter of CPU time, 50 s more than 1 takes, for a twentieth of the speed."""

SETUP_S: Final = 180
"""So long `make setup` waits for a core. What was compiled by then is kept for another time."""

GIVEN_UP: Final = ROOT / ".cache/mypyc/given-up"
"""Which core `make setup` could not make, and why: it does not try that one again."""

AS_IT_IS: Final = "everything works as it is, only slower"

KEPT_CORES: Final = 3
"""Cores of earlier sources that stay in `.cache/compiled`: who goes back to them need not wait."""


def main(arguments: list[str]) -> int:
    sys.path.insert(0, str(LIB))
    os.environ["GROUPREPLAY_COMPILED"] = "0"  # this process needs the names alone
    is_setup = "--setup" in arguments
    why = missing()
    if why:
        print(f"not compiled: {why}; {AS_IT_IS}")
        return 1 if arguments and not is_setup else 0
    if is_setup:
        _set_up(SETUP_S)
        return 0
    began = time.monotonic()
    place, is_new = _compiled()
    seconds = time.monotonic() - began
    if is_new:
        print(f"compiled the pure core in {seconds:.0f} s: {place.relative_to(ROOT)}")
    if "--archive" in arguments:
        _pack(place)
    return 0


def _set_up(at_most_s: float) -> None:
    """Compiles in a process of its own, which can be ended with all that it started, and says how
    that went in one line; nothing where there is nothing to do.
    """
    place = _place()
    if _is_whole(place):
        os.utime(place)
        return
    if GIVEN_UP.exists():
        name, _, why = GIVEN_UP.read_text(encoding="utf-8").partition("\n")
        if name == place.name:
            print(f"not compiled: {why}; make compiled tries again")
            return
    print(f"compiling the pure core, for at most {at_most_s:.0f} s: ", end="", flush=True)
    began = time.monotonic()
    why = _tried(at_most_s)
    if not why:
        print(f"done in {time.monotonic() - began:.0f} s")
        return
    print(f"{why}; {AS_IT_IS}")
    GIVEN_UP.parent.mkdir(parents=True, exist_ok=True)
    GIVEN_UP.write_text(f"{place.name}\n{why}", encoding="utf-8")


def _tried(at_most_s: float) -> str:
    """Why compiling did not work; "" where it did."""
    log = ROOT / ".cache/compile.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            [sys.executable, __file__], stdout=out, stderr=out, start_new_session=True
        )
        try:
            status = process.wait(at_most_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for left in CORES.glob(".making-*"):
                shutil.rmtree(left, ignore_errors=True)
            return f"it takes longer than {at_most_s:.0f} s"
    if status:
        return f"it failed, {log.relative_to(ROOT)} says why"
    log.unlink()
    return ""


def missing() -> str:
    """What compiling needs and lacks, in words; "" for nothing."""
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        return f"the C compiler {compiler} is not there"
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    if not headers.exists():
        return f"Python's headers are not there ({headers}; on Debian and Ubuntu python3-dev)"
    try:
        import mypyc.build  # noqa: F401
        import setuptools  # type: ignore[import-untyped]  # noqa: F401
    except ImportError as error:
        return f"{error.name} is not installed"
    return ""


def files_of(*parts: str) -> list[str]:
    """Sources below the package, without the `__init__.py`, which hold a sentence each."""
    found = [
        each
        for part in parts
        for each in ([PACKAGE / part] if part.endswith(".py") else (PACKAGE / part).rglob("*.py"))
    ]
    return sorted(str(each.relative_to(PACKAGE)) for each in found if each.name != "__init__.py")


def _place() -> Path:
    """Of the core of these sources, for this Python and machine."""
    from groupreplay.compiled_core import core_name

    return CORES / core_name(_digest(files_of(*CORE)))


def _digest(sources: list[str]) -> str:
    from groupreplay.compiled_core import digest_of

    return digest_of((path, (PACKAGE / path).read_bytes()) for path in sources)


def _is_whole(place: Path) -> bool:
    from groupreplay.compiled_core import CONTENTS

    return (place / CONTENTS).exists()


def _compiled() -> tuple[Path, bool]:
    """The core of these sources; and whether it was made now."""
    from groupreplay.compiled_core import CONTENTS

    sources = files_of(*CORE)
    digest, place = _digest(sources), _place()
    if _is_whole(place):
        os.utime(place)
        return place, False
    CORES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CORES, prefix=".making-") as making:
        made = Path(making) / "core"
        made.mkdir()
        _make(sources, Path(making), made)
        modules = {
            f"groupreplay.{path[:-3].replace('/', '.')}": annotations_of(
                (PACKAGE / path).read_text(encoding="utf-8")
            )
            for path in sources
        }
        contents = {"sources": sources, "digest": digest, "modules": modules}
        (made / CONTENTS).write_text(json.dumps(contents, indent=1), encoding="utf-8")
        shutil.rmtree(place, ignore_errors=True)
        made.rename(place)
    known = [each for each in CORES.iterdir() if each.is_dir() and not each.name.startswith(".")]
    for old in sorted(known, key=lambda each: each.stat().st_mtime)[:-KEPT_CORES]:
        shutil.rmtree(old, ignore_errors=True)
    return place, True


def _make(files: list[str], making: Path, made: Path) -> None:
    """C by mypyc, then a library by the compiler that Python was made with."""
    from mypyc.build import mypycify

    from groupreplay.compiled_core import LIBRARY, fits

    staged = _staged(files)
    os.environ["MYPYPATH"] = str(staged)
    options = ["--strict", "--config-file=", "--explicit-package-bases", "--namespace-packages"]
    options.append(f"--cache-dir={ROOT / '.cache/mypyc'}")
    with contextlib.chdir(staged), _quiet(making / "mypyc.log"):
        library = mypycify(
            [*options, *(f"groupreplay/{path}" for path in files)],
            opt_level=OPTIMIZATION,
            debug_level="0",
            multi_file=True,
            group_name=LIBRARY.removesuffix("__mypyc"),
            target_dir=str(making / "c"),
        )[0]
    compiler = _compiler()
    include = [*library.include_dirs, sysconfig.get_path("include")]
    # Another compiler may warn of what mypyc's authors never saw: that is for them.
    flags = [*[each for each in library.extra_compile_args if each != "-Werror"], "-w"]

    headers = b"".join(each.read_bytes() for each in sorted((making / "c").rglob("*.h")))
    OBJECTS.mkdir(parents=True, exist_ok=True)

    def compile_one(source: str) -> str:
        """The object of a C file. One that was made of the same before is taken again."""
        told = [fits(), OPTIMIZATION, *flags]
        digest = hashlib.sha256(repr(told).encode() + headers + Path(source).read_bytes())
        known = OBJECTS / f"{digest.hexdigest()}.o"
        if not known.exists():
            (found,) = compiler.compile(
                [source],
                output_dir=str(making / "objects"),
                include_dirs=include,
                extra_postargs=flags,
            )
            os.replace(found, known)
        os.utime(known)
        return str(known)

    begun = time.time()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    with ThreadPoolExecutor(cores) as pool:
        objects = list(pool.map(compile_one, library.sources))
    compiler.link_shared_object(objects, str(made / f"{LIBRARY}{EXTENSION_SUFFIXES[0]}"))
    for old in OBJECTS.iterdir():
        if old.stat().st_mtime < begun - 60:
            old.unlink()


def _staged(files: list[str]) -> Path:
    """The package as mypyc is given it: with the constructors of its dataclasses written down, and
    with their fields named where they are called. What is the same as before is left, so that mypy
    need not read it again.
    """
    sources = {path: (PACKAGE / path).read_text(encoding="utf-8") for path in files}
    folders = {parent for file in files for parent in Path(file).parents}
    inits = {str(each / "__init__.py"): "" for each in folders}
    staged = STAGED / PACKAGE.name
    written = with_constructors(with_fields_passed(sources))
    texts = {staged / path: text for path, text in (written | inits).items()}
    for old in set(staged.rglob("*.py")) - texts.keys():
        old.unlink()
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    return STAGED


def _compiler() -> Any:
    # Where Python has no distutils, setuptools brings it; mypyc has imported that.
    from distutils.ccompiler import new_compiler
    from distutils.sysconfig import customize_compiler

    compiler: Any = new_compiler()
    customize_compiler(compiler)
    return compiler


@contextlib.contextmanager
def _quiet(log: Path) -> Iterator[None]:
    """mypyc says which generators it makes lists of. What it says is shown where it ends early."""
    with log.open("w", encoding="utf-8") as out:
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                yield
        except BaseException:
            out.flush()
            print(log.read_text(encoding="utf-8"), file=sys.stderr)
            raise


def _pack(place: Path) -> None:
    """An archive for executors, whose `spark-submit.sh` takes it along; and a wheel."""
    DIST.mkdir(exist_ok=True)
    archive = DIST / "groupreplay-compiled.tar.gz"
    with tarfile.open(made := archive.with_suffix(".making"), "w:gz") as out:
        out.add(place, place.name)
    made.replace(archive)  # whole or not at all: a run may be about to take it
    pack_wheel(place, DIST)
    print(f"packed {archive.relative_to(ROOT)}, and a wheel beside it")


def pack_wheel(place: Path, into: Path) -> None:
    """The package with this core in it, by the setuptools that mypyc needs anyway."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("setup.py", "lib", "schemas", "conf", "README.md", "LICENSE"):
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, Path(folder) / name)
        shutil.copytree(place, Path(folder) / "lib/groupreplay/_compiled" / place.name)
        wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        wheel += ["--no-build-isolation", "--wheel-dir", str(into)]
        subprocess.run([*wheel, folder], check=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
