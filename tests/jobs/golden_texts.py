"""Texts of jobs that are compared with a file beside the tests."""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).parent / "golden"
REWRITE = bool(os.environ.get("REWRITE_GOLDEN"))
"""REWRITE_GOLDEN=1 writes the golden files; look at the difference before you keep it."""


def same_as_golden(text: str, name: str) -> None:
    path = GOLDEN / name
    if REWRITE:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")
