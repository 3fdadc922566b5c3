"""Digests of the tables that a night published."""

from __future__ import annotations

from groupreplay.night.run import NightResult
from groupreplay.report.catalog import SPECS
from tests.support.few_tables import FEW


def digest(result: NightResult) -> dict[str, str]:
    """Table -> digest, of a night that published all tables."""
    assert result.run is not None
    assert result.run.state == "DONE"
    assert set(result.run.digest or {}) == {spec.name for spec in SPECS.values() if spec.digest}
    return dict(result.run.digest or {})


def few_digests(result: NightResult) -> dict[str, str]:
    """Those of the few, of a night that published all tables or few."""
    assert result.run is not None
    assert result.run.state == "DONE"
    return {name: (result.run.digest or {})[name] for name in FEW if SPECS[name].digest}
