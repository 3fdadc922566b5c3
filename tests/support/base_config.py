"""The defaults as conf/base.yaml has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.yaml_text import safe_load

BASE = Path(__file__).parents[2] / "conf" / "base.yaml"


def load_base() -> dict[str, Any]:
    """key or section -> its default, or the section's keys with theirs."""
    tree: dict[str, Any] = safe_load(BASE.read_text(encoding="utf-8"))
    return tree
