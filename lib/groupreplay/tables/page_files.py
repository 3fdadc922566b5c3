"""`<warehouse>/_report/<cluster>/`: the pages of nights, as files beside the tables.

    index.html                             the newest night
    <logical_date>/index.html
    <logical_date>/g/<slug>.html           of single groups, which the overview links to
    <logical_date>/asked/<slug>.html       those that somebody asked for
    <logical_date>/asked/<slug>-<n>.html   of n nights
    <logical_date>.unfinished              while the pages of a night are on their way
    <logical_date>.written                 once they were all there

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
_WRITTEN: Final = ".written"


def cluster_folder(cluster: str) -> str:
    """Below the warehouse. Raises ValueError for a name that would be another folder."""
    if cluster in (".", ".."):
        raise ValueError(f"a cluster called {cluster!r} can have no folder of its own")
    return f"{FOLDER}/{cluster}"


def night_folder(cluster: str, logical_date: date) -> str:
    return f"{cluster_folder(cluster)}/{logical_date}"


def group_file(cluster: str, logical_date: date, slug: str) -> str:
    return f"{night_folder(cluster, logical_date)}/g/{slug}.html"


def asked_file(cluster: str, logical_date: date, slug: str, nights: int) -> str:
    """File of a group that somebody asked for, over this many nights. It stands apart from the
    pages of the night, which replace each other when the night runs again.
    """
    name = slug if nights == 1 else f"{slug}-{nights}"
    return f"{night_folder(cluster, logical_date)}/asked/{name}.html"


def begin(warehouse: Warehouse, cluster: str, logical_date: date) -> None:
    """Notes that the pages of a night are not all there yet, until `end` or `give_up`."""
    warehouse.replace_text(_note(cluster, logical_date, _UNFINISHED), "")


def end(warehouse: Warehouse, cluster: str, logical_date: date) -> None:
    """Notes that they are all there."""
    warehouse.replace_text(_note(cluster, logical_date, _WRITTEN), "")
    give_up(warehouse, cluster, logical_date)


def give_up(warehouse: Warehouse, cluster: str, logical_date: date) -> None:
    note = _note(cluster, logical_date, _UNFINISHED)
    warehouse.log("runs").delete(f"{warehouse.root}/{note}")


def _note(cluster: str, logical_date: date, what: str) -> str:
    return night_folder(cluster, logical_date) + what


def missing(warehouse: Warehouse, cluster: str, newest: date) -> list[date]:
    """Nights whose pages were begun and not ended, and the newest where its pages were all there
    and are gone; in order.
    """
    names = set(warehouse.log("runs").names_in(f"{warehouse.root}/{cluster_folder(cluster)}"))
    begun = {name.removesuffix(_UNFINISHED) for name in names if name.endswith(_UNFINISHED)}
    found = {date.fromisoformat(name) for name in begun if _is_date(name)}
    if f"{newest}{_WRITTEN}" in names and not names >= {INDEX, str(newest)}:
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
    """Deletes the folders of all nights but the newest `kept`, and what notes say of them or of
    older ones: pages that are begun would be written by the next job. Gives the folders' names.
    """
    folder = f"{warehouse.root}/{cluster_folder(cluster)}"
    log = warehouse.log("runs")
    names = log.names_in(folder)
    nights = sorted(name for name in names if _is_date(name))
    old = nights[: max(0, len(nights) - kept)]
    for name in old:
        log.delete(f"{folder}/{name}")
    for note in names:
        night = note.removesuffix(_UNFINISHED).removesuffix(_WRITTEN)
        if old and night != note and _is_date(night) and night <= old[-1]:
            log.delete(f"{folder}/{note}")
    return old


def _is_date(name: str) -> bool:
    try:
        return str(date.fromisoformat(name)) == name
    except ValueError:
        return False
