"""Named step: the thresholds of a group, by the first pattern that matches it and has the key, else
those of all groups.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as sf

from groupreplay.report.context import ReportContext
from groupreplay.report.joins.group_choice import matches_any


def threshold(context: ReportContext, name: str) -> Column:
    """The field of Thresholds for the row's group_id, in its unit."""
    usual = sf.lit(getattr(context.thresholds, name))
    own = [
        (each.pattern, each.limits[name])
        for each in context.thresholds_by_group
        if name in each.limits
    ]
    # From the last to the first, each around the ones after it: a row tries no pattern after the
    # one that matches.
    for pattern, limit in reversed(own):
        usual = sf.when(matches_any(sf.col("group_id"), (pattern,)), sf.lit(limit)).otherwise(usual)
    return usual
