"""The pure core as machine code, where it was compiled for this Python and machine.

`make setup` compiles `wire`, `replay`, `evidence` and what they ask for by mypyc, from these very
sources (`compile_core.py`). Each compiled core is a folder of its own, named by
what it was made of: a hash of the sources, Python's ABI, and the platform. One is loaded only where
all three are those of the package that asks, else the sources run as they are; no row differs.

`GROUPREPLAY_COMPILED=0` turns it off; a folder there is looked into first.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Final

from groupreplay.compiled_data import Annotations, annotated

VARIABLE: Final = "GROUPREPLAY_COMPILED"
OFF: Final = "0"

RECIPE: Final = 4
"""Goes up with every change of `compile_core.py` that makes another core of the same sources."""

LIBRARY: Final = "groupreplay_core__mypyc"
"""Name of the module that holds all others. mypyc's code looks itself up by it."""

ALIAS: Final = "groupreplay-compiled"
"""What an archive of compiled cores is called where Spark unpacks it, beside the bundle."""

CONTENTS: Final = "core.json"
"""In the folder of a core: its sources, the digest of them, and the modules that it holds."""

_HERE: Final = Path(__file__).parent
_running = "interpreted: not asked for yet"
_passed_over = False


def running() -> str:
    """Which core this process runs, in words: `compiled: NAME`, or `interpreted: WHY`."""
    return _running


def passed_over() -> bool:
    """Whether compiled cores are there and none was loaded. The user expects a compiled core."""
    return _passed_over


def fits() -> str:
    """The end of the names of cores that this Python can load here: its ABI and the platform."""
    return f"{EXTENSION_SUFFIXES[0].split('.')[1]}-{sys.platform}-{platform.machine()}"


def core_name(digest: str) -> str:
    return f"{digest[:16]}-{fits()}"


def digest_of(sources: Iterable[tuple[str, bytes]]) -> str:
    """Digest of the sources of a core.

    sources: (path below the package, what is in it), in the order of their paths.
    """
    found = hashlib.sha256(f"{RECIPE}\0".encode())
    for path, text in sources:
        found.update(f"{path}\0{len(text)}\0".encode() + text)
    return found.hexdigest()


def install() -> None:
    """Loads the compiled core, before the first module of the core is imported. Logs nothing; the
    job logs once.
    """
    global _running, _passed_over
    if os.environ.get(VARIABLE) == OFF:
        _running = f"interpreted: {VARIABLE}={OFF}"
        return
    newest: dict[str, str] = {}
    for place in _places():
        why = _load(place)
        if not why:
            _running = f"compiled: {place.name}"
            return
        newest.setdefault(why, place.name)
    reasons = [f"{name} {why}" for why, name in newest.items()]
    _running = f"interpreted: {'; '.join(reasons) or 'no compiled core is here'}"
    _passed_over = bool(reasons)


def _places() -> Iterator[Path]:
    """Folders of compiled cores: those of this checkout, those beside the bundle that runs, and
    those of a wheel.
    """
    asked = os.environ.get(VARIABLE, "")
    root = _HERE.parent.parent
    folders = [
        *([Path(asked)] if os.sep in asked else []),
        root / ".cache/compiled",
        root.parent / ".cache/compiled",
        root / ALIAS,
        Path.cwd() / ALIAS,
        _HERE / "_compiled",
    ]
    for folder in dict.fromkeys(folders):
        if folder.is_dir():
            newest = sorted(folder.iterdir(), key=lambda each: each.stat().st_mtime, reverse=True)
            yield from (each for each in newest if (each / CONTENTS).exists())


def _load(place: Path) -> str:
    """Why the core in this folder cannot be loaded; "" where it now is."""
    if not place.name.endswith(fits()):
        return f"is for another Python or machine than {fits()}"
    try:
        contents = json.loads((place / CONTENTS).read_text(encoding="utf-8"))
        if digest_of(_sources(contents["sources"])) != contents["digest"]:
            return "was made of other sources"
        sys.meta_path.insert(0, _Core(_library(place), contents["modules"]))
    except (OSError, ImportError, ValueError, LookupError) as error:
        return f"cannot be loaded: {error}"
    return ""


def _sources(paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """From the folder or the zip file that the package is in, by the name that it has there."""
    # Loaders of files and of zip files have it.
    read = getattr(sys.modules[__name__].__loader__, "get_data")  # noqa: B009
    for path in paths:
        yield path, read(os.path.join(os.path.dirname(__file__), *path.split("/")))


def _library(place: Path) -> ModuleType:
    loader = ExtensionFileLoader(LIBRARY, str(place / f"{LIBRARY}{EXTENSION_SUFFIXES[0]}"))
    spec = spec_from_loader(LIBRARY, loader)
    assert spec is not None
    library = module_from_spec(spec)
    sys.modules[LIBRARY] = library
    loader.exec_module(library)
    return library


class _Core:
    """Finds and makes the modules that the library holds. mypyc gives each a function that makes
    it, in a capsule; ctypes calls it, as otherwise a library of its own for every module would.
    """

    def __init__(self, library: ModuleType, modules: Mapping[str, Annotations]) -> None:
        import ctypes

        self._modules = modules
        self._makers = {}
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        for name in modules:
            maker = f"init_{name.replace('.', '___')}"
            address = pointer(getattr(library, maker), f"{LIBRARY}.{maker}".encode())
            self._makers[name] = ctypes.PYFUNCTYPE(ctypes.py_object)(address)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self._makers:
            return None
        # A loader by its methods.
        return ModuleSpec(name, self, origin=LIBRARY)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A whole module: mypyc's function runs it too."""
        with annotated(self._modules):
            made: ModuleType = self._makers[spec.name]()
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to do."""
