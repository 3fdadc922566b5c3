"""A configuration that is whole, and where tests write theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

GOOD = """
cluster: prod-eu
warehouse: /data/groupreplay
sources:
  - {kind: segments, path: "hdfs://nn/logs/"}
  - {kind: topics, path: /etc/topics.json}
"""


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(text: str) -> str:
        path = tmp_path / "c.yaml"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write
