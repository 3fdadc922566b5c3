"""Three statements to paste into Spark SQL after a run, the questions that the product is there
for, and how their answers are shown.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final

from groupreplay.cli.outcome import JSON, show_lines, show_object

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

QUERIES: Final = (
    (
        "Who keeps a group from the consumer protocol, and since when",
        """SELECT group_id, phase, progress_pct, mixed_since_at,
       who.client_id, who.client_host, who.instance_id
FROM {migration_progress} LATERAL VIEW explode(blockers) AS who
WHERE cluster = '{cluster}'
  AND logical_date =
      (SELECT max(logical_date) FROM {migration_progress} WHERE cluster = '{cluster}')
ORDER BY phase = 'MIGRATING' DESC, mixed_since_at, group_id, who.client_id LIMIT 20""",
    ),
    (
        "Which clients are slow to give partitions back",
        """SELECT group_id, client_id, client_host, count(*) AS partitions,
       max(revoke_ms) AS revoke_ms_max, round(avg(revoke_ms)) AS revoke_ms_avg,
       max(unowned_ms) AS unowned_ms_max,
       concat_ws(' ', sort_array(collect_set(outcome))) AS outcomes
FROM {revocation_latencies}
WHERE cluster = '{cluster}' AND revoke_ms IS NOT NULL
GROUP BY group_id, client_id, client_host ORDER BY revoke_ms_max DESC LIMIT 20""",
    ),
    (
        "Who is stuck, on whom, and since when: those that still are first",
        """SELECT is_open, reason, group_id, client_id, client_host,
       since_at, until_at, stuck_ms, blocked_by
FROM {stuck_members}
WHERE cluster = '{cluster}'
ORDER BY is_open DESC, stuck_ms DESC LIMIT 20""",
    ),
)
"""(what it answers, statement for Spark SQL): `{table}` stands for a table, `{cluster}` for the
cluster's name.
"""


def queries(warehouse: str, cluster: str) -> list[tuple[str, str]]:
    """QUERIES with the paths of a warehouse filled in."""
    root = warehouse.rstrip("/").replace("`", "``")
    escaped = cluster.replace("\\", "\\\\").replace("'", "\\'")

    def filled(found: re.Match[str]) -> str:
        return escaped if found[1] == "cluster" else f"delta.`{root}/{found[1]}`"

    return [(title, re.sub(r"\{(\w+)\}", filled, statement)) for title, statement in QUERIES]


ROWS: Final = 20
"""Rows of an answer that are shown as text; the statements ask for no more."""

_WIDTH: Final = 40
"""Longest cell as text, in characters; Spark shortens what is longer."""


def show_answer(title: str, statement: str, answer: DataFrame, log_format: str) -> None:
    """Prints a statement and its answer. As text: a table. As JSON: an object with `statement`,
    then one a row, with `row`; `message` is the title. Times are ISO 8601, NULLs null.
    """
    if log_format == JSON:
        show_object(title, statement=statement)
        rows = answer.selectExpr("to_json(struct(*), map('ignoreNullFields', 'false')) AS row")
        for row in rows.collect():
            show_object(title, row=json.loads(row["row"]))
    else:
        show_lines([f"-- {title}", f"{statement};"], log_format)
        answer.show(ROWS, _WIDTH)
