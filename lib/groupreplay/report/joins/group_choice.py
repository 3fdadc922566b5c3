"""Named step: which groups the configuration leaves out."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as sf

from groupreplay.config.group_patterns import any_regex
from groupreplay.config.model import GroupsConfig


def matches_any(group_id: Column, patterns: tuple[str, ...]) -> Column:
    """Whether the whole id matches one of the patterns; false for NULL."""
    # \z, because $ would overlook a line break at the end of an id.
    return sf.coalesce(group_id.rlike(rf"^(?:{any_regex(patterns)})\z"), sf.lit(False))


def is_left_out(group_id: Column, groups: GroupsConfig) -> Column:
    """Never NULL; what names no group (NULL) is never left out."""
    excluded = matches_any(group_id, groups.exclude) if groups.exclude else sf.lit(False)
    if not groups.include:
        return excluded
    return excluded | (group_id.isNotNull() & ~matches_any(group_id, groups.include))
