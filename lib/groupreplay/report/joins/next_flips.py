"""Named step: the groups that can be flipped to the consumer protocol next."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf


def next_flips(readiness: DataFrame, most: int) -> DataFrame:
    """What is proven first, then canaries, then the smaller groups; `most` rows."""
    is_next = readiness.where(sf.col("flip_tier").isin(1, 2))
    return is_next.orderBy("flip_tier", sf.asc_nulls_last("partitions"), "group_id").limit(most)


def look_at() -> Column:
    """The rules of a row that a person has to look at before the flip."""
    to_check = sf.filter("rules", lambda rule: rule["severity"] == "CHECK")
    return sf.transform(to_check, lambda rule: rule["rule"]).alias("look_at")
