"""`<warehouse>/_report/<cluster>/`: the pages of nights, as files beside the tables.

    index.html                     the newest night
    <logical_date>/index.html
    <logical_date>/g/<slug>.html   of single groups
    <logical_date>.unfinished      while the pages of a night are on their way

The folder begins with `_`, as `_sql` does, so that readers of tables pass it by. The name of a
cluster is a path by configuration; ids of groups never are.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Final

from groupreplay.tables.warehouse import Warehouse

FOLDER: Final = "_report"
INDEX: Final = "index.html"
_UNFINISHED: Final = ".unfinished"


def cluster_folder(cluster: str) -> str:
    """Below the warehouse. Raises ValueError for a name that would be another folder."""
    if cluster in (".", ".."):
        raise ValueError(f"a cluster called {cluster!r} can have no folder of its own")
    return f"{FOLDER}/{cluster}"


def night_folder(cluster: str, logical_date: date) -> str:
    return f"{cluster_folder(cluster)}/{logical_date}"


def group_page(cluster: str, logical_date: date, slug: str) -> str:
    return f"{night_folder(cluster, logical_date)}/g/{slug}.html"


def begin(warehouse: Warehouse, cluster: str, logical_date: date) -> None:
    """Notes that the pages of a night are not all there yet, until `end`."""
    warehouse.replace_text(_note(cluster, logical_date), "")


def end(warehouse: Warehouse, cluster: str, logical_date: date) -> None:
    warehouse.log("runs").delete(f"{warehouse.root}/{_note(cluster, logical_date)}")


def _note(cluster: str, logical_date: date) -> str:
    return night_folder(cluster, logical_date) + _UNFINISHED


def missing(warehouse: Warehouse, cluster: str, newest: date) -> list[date]:
    """Nights whose pages were begun and not ended, and the newest where its pages are gone while
    others are there; in order.
    """
    names = set(warehouse.log("runs").names_in(f"{warehouse.root}/{cluster_folder(cluster)}"))
    begun = {name.removesuffix(_UNFINISHED) for name in names if name.endswith(_UNFINISHED)}
    found = {date.fromisoformat(name) for name in begun if _is_date(name)}
    if names and not names >= {INDEX, str(newest)}:
        found.add(newest)
    return sorted(found)


def address(warehouse: Warehouse, name: str) -> str:
    """What a person opens: a local path as a URL."""
    place = f"{warehouse.root}/{name}"
    return f"file://{place}" if place.startswith("/") else place


def delete_other_groups(
    warehouse: Warehouse, cluster: str, logical_date: date, slugs: Iterable[str]
) -> None:
    """Deletes pages that an earlier run of the night left of groups that have none now."""
    kept = {f"{slug}.html" for slug in slugs}
    folder = f"{warehouse.root}/{night_folder(cluster, logical_date)}/g"
    log = warehouse.log("runs")
    for name in log.names_in(folder):
        if name.endswith(".html") and name not in kept:
            log.delete(f"{folder}/{name}")


def delete_old_nights(warehouse: Warehouse, cluster: str, kept: int) -> list[str]:
    """Deletes the folders of all nights but the newest `kept`; gives their names."""
    folder = f"{warehouse.root}/{cluster_folder(cluster)}"
    log = warehouse.log("runs")
    nights = sorted(name for name in log.names_in(folder) if _is_date(name))
    old = nights[: max(0, len(nights) - kept)]
    for name in old:
        log.delete(f"{folder}/{name}")
    return old


def _is_date(name: str) -> bool:
    try:
        return str(date.fromisoformat(name)) == name
    except ValueError:
        return False
