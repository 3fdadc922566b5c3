"""Paths of pages, and what is deleted of them."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import cast

import pytest

from groupreplay.tables import page_files as files
from groupreplay.tables.warehouse import Warehouse


class Folder:
    """A warehouse that is a local folder."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)

    def log(self, _: str) -> Folder:
        return self

    def names_in(self, folder: str) -> list[str]:
        return sorted(path.name for path in Path(folder).iterdir()) if Path(folder).exists() else []

    def delete(self, path: str) -> None:
        place = Path(path)
        if place.is_dir():
            place.rmdir()
        else:
            place.unlink(missing_ok=True)

    def replace_text(self, name: str, text: str) -> None:
        place = Path(self.root) / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def test_paths_are_those_that_the_documentation_names() -> None:
    night = date(2026, 11, 21)
    assert files.night_folder("prod-eu", night) == "_report/prod-eu/2026-11-21"
    assert files.group_file("c", night, "0a") == "_report/c/2026-11-21/g/0a.html"
    assert files.asked_file("c", night, "0a", 1) == "_report/c/2026-11-21/asked/0a.html"
    assert files.asked_file("c", night, "0a", 7) == "_report/c/2026-11-21/asked/0a-7.html"


@pytest.mark.parametrize("cluster", [".", ".."])
def test_no_cluster_is_another_folder(cluster: str) -> None:
    with pytest.raises(ValueError):
        files.cluster_folder(cluster)


def test_the_newest_nights_stay(tmp_path: Path) -> None:
    names = ["2026-11-19", "2026-11-20", "2026-11-21", "mine", "20261118"]
    for name in names:
        (tmp_path / "_report" / "c" / name).mkdir(parents=True)
    gone = ["2026-11-19.written", "2026-11-18.unfinished", "2026-11-19.unfinished"]
    notes = ["2026-11-20.unfinished", "2026-11-21.written", "mine.written"]
    for name in (*gone, *notes):
        (tmp_path / "_report" / "c" / name).touch()
    warehouse = cast(Warehouse, Folder(tmp_path))
    assert files.delete_old_nights(warehouse, "c", 3) == []
    assert files.delete_old_nights(warehouse, "c", 2) == ["2026-11-19"]
    left = {path.name for path in (tmp_path / "_report" / "c").iterdir()}
    assert left == {*names[1:], *notes}
    assert files.missing(warehouse, "c", date(2026, 11, 21)) == [
        date(2026, 11, 20),
        date(2026, 11, 21),
    ], "index.html is not there"
    assert files.delete_old_nights(warehouse, "another", 2) == []


def test_an_address_can_be_opened() -> None:
    def at(root: str) -> str:
        folder = Folder(Path("/"))
        folder.root = root
        return files.address(cast(Warehouse, folder), "_report/c/index.html")

    assert at("/data") == "file:///data/_report/c/index.html"
    assert at("s3a://b/w") == "s3a://b/w/_report/c/index.html"


def test_a_page_that_is_asked_for_outlasts_a_rerun(tmp_path: Path) -> None:
    night = date(2026, 11, 21)
    warehouse = cast(Warehouse, Folder(tmp_path))
    for name in (
        files.group_file("c", night, "0a"),
        files.group_file("c", night, "0b"),
        files.asked_file("c", night, "0b", 1),
        files.asked_file("c", night, "0b", 7),
    ):
        warehouse.replace_text(name, "")
    files.delete_other_groups(warehouse, "c", night, ["0a"])
    below = tmp_path / files.night_folder("c", night)
    kept = {str(path.relative_to(below)) for path in below.rglob("*.html")}
    assert kept == {"g/0a.html", "asked/0b.html", "asked/0b-7.html"}


def test_what_is_missing_is_what_was_there_or_was_begun(tmp_path: Path) -> None:
    first, second = date(2026, 11, 20), date(2026, 11, 21)
    warehouse = cast(Warehouse, Folder(tmp_path))
    assert files.missing(warehouse, "c", second) == []
    files.begin(warehouse, "c", first)
    assert files.missing(warehouse, "c", second) == [first]
    files.end(warehouse, "c", first)
    assert files.missing(warehouse, "c", second) == [], "the newest never had any"
    assert files.missing(warehouse, "c", first) == [first], "somebody removed them"
    files.begin(warehouse, "c", second)
    files.give_up(warehouse, "c", second)
    assert files.missing(warehouse, "c", second) == []
