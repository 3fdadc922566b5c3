"""Three statements to paste into Spark SQL after a run: the questions that the product is there
for.
"""

from __future__ import annotations

import re
from typing import Final

QUERIES: Final = (
    (
        "Who keeps a group from the consumer protocol, and since when",
        """SELECT group_id, phase, progress_pct, mixed_since_at, who.client_id, who.client_host, who.instance_id
FROM {migration_progress} LATERAL VIEW explode(blockers) AS who
WHERE cluster = '{cluster}' AND logical_date = (SELECT max(logical_date) FROM {migration_progress} WHERE cluster = '{cluster}')
ORDER BY phase = 'MIGRATING' DESC, mixed_since_at, group_id, who.client_id LIMIT 20""",
    ),
    (
        "Which clients are slow to give partitions back",
        """SELECT group_id, client_id, client_host, count(*) AS partitions, max(revoke_ms) AS revoke_ms_max,
       round(avg(revoke_ms)) AS revoke_ms_avg, max(unowned_ms) AS unowned_ms_max, concat_ws(' ', sort_array(collect_set(outcome))) AS outcomes
FROM {revocation_latencies}
WHERE cluster = '{cluster}' AND revoke_ms IS NOT NULL
GROUP BY group_id, client_id, client_host ORDER BY revoke_ms_max DESC LIMIT 20""",
    ),
    (
        "Who is stuck, on whom, and since when: those that still are first",
        """SELECT is_open, reason, group_id, client_id, client_host, since_at, until_at, stuck_ms, blocked_by
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
